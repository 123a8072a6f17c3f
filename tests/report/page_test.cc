#include "jeffreys/report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "jeffreys/report/figure.h"
#include "support/scratch_folder.h"

namespace jeffreys::report {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class PageTest : public testing::ScratchTest {};

constexpr const char* kSvg =
    "<?xml version=\"1.0\"?>\n<svg \n width=\"400\" height=\"200\" viewBox=\"0 0 400 200\" "
    "xmlns=\"http://www.w3.org/2000/svg\">\n<title>Gnuplot</title>\n<desc>Produced by</desc>\n"
    "<defs><circle id='dot' r='1'/><use xlink:href='#dot' id=\"big\"/></defs>\n"
    "<g id=\"group\"><title>plot</title><use xlink:href='#big'/><path fill='url(#dot)'/>"
    "<text>id='dot' a > b</text></g>\n</svg>\n";

std::string refusal(const std::function<void(Page&)>& use) {
  Page page("title");
  try {
    use(page);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  ADD_FAILURE() << "was not refused";
  return {};
}

TEST_F(PageTest, EveryTextIsEscapedInHtml) {
  const std::string text = "<b>&\"'\x01\xff</b>";
  const std::string escaped = "&lt;b&gt;&amp;&quot;&#39; \xef\xbf\xbd&lt;/b&gt;";
  Page page(text, text);
  page.heading(text);
  page.paragraph(text);
  page.preformatted(text);
  page.table({text}, {{text}}, {.caption = text});
  page.figure({kSvg, text, text, "a.svg"});
  page.notice(text);
  const std::string html = page.html();
  EXPECT_THAT(html, Not(HasSubstr("<b>")));
  for (const char* around :
       {"<title>%</title>", "<h1>%</h1>", "subtitle\">%</p>", "\">%</a>", "\">%</h2>", "<p>%</p>",
        "<code>%</code>", "<th scope=\"col\">%</th>", "<td>%</td>", "Table 1: %</p>",
        "aria-label=\"%\"", "Figure 1: %</figcaption>", "</strong> %</p>"}) {
    std::string expected = around;
    expected.replace(expected.find('%'), 1, escaped);
    EXPECT_THAT(html, HasSubstr(expected));
  }
}

TEST_F(PageTest, PagesLoadNothing) {
  Page page("title");
  page.figure({.svg = kSvg});
  EXPECT_THAT(page.html(), AllOf(StartsWith("<!DOCTYPE html>"), EndsWith("</html>\n"),
                                 HasSubstr("default-src 'none'"), Not(HasSubstr("http:")),
                                 Not(HasSubstr("https:")), Not(HasSubstr("<script"))));
}

TEST_F(PageTest, PartsOfPicturesHaveNamesOfTheirOwn) {
  Page page("title");
  page.figure({.svg = kSvg});
  page.figure({.svg = kSvg});
  const std::string html = page.html();
  EXPECT_THAT(html, HasSubstr("<circle id='figure-1-dot' r='1'/>"
                              "<use xlink:href='#figure-1-dot' id=\"figure-1-big\"/>"));
  EXPECT_THAT(html, HasSubstr("<g><use xlink:href='#figure-2-big'/>"
                              "<path fill='url(#figure-2-dot)'/><text>id='dot' a > b</text></g>"));
  EXPECT_THAT(html, AllOf(Not(HasSubstr("Gnuplot")), Not(HasSubstr("Produced by")),
                          Not(HasSubstr("<?xml"))));
}

TEST_F(PageTest, NoNameIsUsedTwiceInDrawnFigures) {
  if (std::system("command -v gnuplot > /dev/null") != 0) GTEST_SKIP() << "no gnuplot";
  const Scatter points{.points = Matrix<double>::Random(20, 2)};
  draw(path("a.svg"), {{points, points}});
  Page page("title");
  page.heading("figure 1 dot");
  for (int i = 0; i < 3; ++i) page.figure({.svg = read_svg(path("a.svg"))});
  const std::string html = page.html();
  const std::regex name("<[^>]* id=[\"']([^\"']*)[\"']");
  std::map<std::string, int> uses;
  for (std::sregex_iterator at(html.begin(), html.end(), name), end; at != end; ++at) {
    ++uses[(*at)[1]];
  }
  EXPECT_GT(uses.size(), 3U);
  for (const auto& [id, count] : uses) EXPECT_EQ(count, 1) << id;
  const std::regex reference("href=[\"']#([^\"']*)[\"']");
  for (std::sregex_iterator at(html.begin(), html.end(), reference), end; at != end; ++at) {
    EXPECT_EQ(uses.count((*at)[1]), 1U) << (*at)[1];
  }
}

TEST_F(PageTest, RefusesWhatIsNoPicture) {
  for (const char* svg : {"", "<svg>", "<svg></svg>", "</svg><svg>", "<svg width=\"1\" <</svg>",
                          "<svg width=\"0\" height=\"5\"></svg>"}) {
    EXPECT_THAT(refusal([&](Page& page) { page.figure({.svg = svg}); }),
                StartsWith("svg: expected"))
        << svg;
  }
  EXPECT_THAT(testing::problem_of(path("none.svg"), [](const auto& p) { read_svg(p); }),
              HasSubstr("cannot read"));
}

TEST_F(PageTest, HeadingsHaveAnchorsAndAreListed) {
  Page page("title");
  page.heading("Held-out NLL (nats)");
  page.heading("Held-out NLL, nats", 3);
  page.heading("\xc3\xbc", 4);
  page.heading("Given", 2, "my_Anchor-2");
  const std::string html = page.html();
  EXPECT_THAT(html, HasSubstr("<h2 id=\"held-out-nll-nats\">"));
  EXPECT_THAT(html, HasSubstr("<h3 id=\"held-out-nll-nats-2\">"));
  EXPECT_THAT(html, HasSubstr("<h4 id=\"section\">"));
  EXPECT_THAT(html, HasSubstr("<a href=\"#my_Anchor-2\">Given</a>"));
  EXPECT_THAT(html, Not(HasSubstr("#section")));
  EXPECT_THAT(page.markdown(), HasSubstr("<a id=\"my_Anchor-2\"></a>\n\n## Given\n"));
}

TEST_F(PageTest, RefusesBadHeadings) {
  EXPECT_THAT(refusal([](Page& page) { page.heading("x", 1); }), HasSubstr("2 to 4, got 1"));
  EXPECT_THAT(refusal([](Page& page) { page.heading("x", 5); }), HasSubstr("2 to 4, got 5"));
  EXPECT_THAT(refusal([](Page& page) { page.heading("x", 2, "a b"); }), HasSubstr("got 'a b'"));
  EXPECT_THAT(refusal([](Page& page) {
                page.heading("x");
                page.heading("y", 2, "x");
              }),
              HasSubstr("not used yet, got 'x'"));
}

TEST_F(PageTest, ColumnsOfNumbersAreAlignedToTheRight) {
  Page page("title");
  page.table({"name", "value", "mixed"}, {{"a", "-0.98 ± 0.02", "1"},
                                          {"b", "< 12 %", "two"},
                                          {"c", "n/a", "3"},
                                          {"d",
                                           "\xe2\x88\x92"
                                           "1",
                                           "4"}});
  EXPECT_THAT(page.markdown(), HasSubstr("|---|--:|---|\n"));
  EXPECT_THAT(page.html(), HasSubstr("<th scope=\"col\" class=\"number\">value</th>"));
  page.table({"x"}, {{"1"}}, {.numeric = {false}});
  EXPECT_THAT(page.html(), HasSubstr("<td>1</td>"));
}

TEST_F(PageTest, BestCellsAndVerdictsAreMarked) {
  Page page("title");
  page.table({"claim", "NLL", "verdict"},
             {{"a", Cell("5.88", Verdict::none, true), Cell("confirmed", Verdict::good)},
              {"b", "9.73", Cell("open", Verdict::mixed)},
              {"c", "1", Cell("refuted", Verdict::bad)}});
  EXPECT_THAT(page.html(),
              AllOf(HasSubstr("<td class=\"number best\"><strong>5.88</strong></td>"),
                    HasSubstr("<td class=\"good\">confirmed</td>"),
                    HasSubstr("<td class=\"mixed\">open</td>"),
                    HasSubstr("<td class=\"bad\">refuted</td>"), HasSubstr("<td>b</td>")));
  EXPECT_THAT(page.markdown(), HasSubstr("| a | **5.88** | confirmed |\n| b | 9.73 | open |\n"));
}

TEST_F(PageTest, RefusesTablesThatDoNotFitTogether) {
  EXPECT_THAT(refusal([](Page& page) { page.table({}, {}); }), HasSubstr("header: expected"));
  EXPECT_THAT(refusal([](Page& page) {
                page.table({"a", "b"}, {{"1", "2"}, {"1"}});
              }),
              HasSubstr("expected 2 cells in row 1, got 1"));
  EXPECT_THAT(refusal([](Page& page) {
                page.table({"a"}, {}, {.numeric = {true, false}});
              }),
              HasSubstr("numeric: expected one for each of 1 columns, got 2"));
}

TEST_F(PageTest, MarkdownSaysTheSame) {
  Page page("Title", "subtitle");
  page.heading("Results");
  page.paragraph("One.\nTwo.");
  page.preformatted("./run ```x```");
  page.table({"a|b"}, {{"1\n2"}}, {.caption = "Numbers."});
  page.figure({kSvg, "A figure.", "what it shows", "figures/a b.svg"});
  page.figure({.svg = kSvg, .caption = "Not linked."});
  page.notice("careful", Notice::warning);
  EXPECT_EQ(page.markdown(),
            "# Title\n\nsubtitle\n\n## Results\n\nOne.\nTwo.\n\n"
            "````\n./run ```x```\n````\n\n"
            "Table 1: Numbers.\n\n| a\\|b |\n|--:|\n| 1 2 |\n\n"
            "![what it shows](<figures/a b.svg>)\n\nFigure 1: A figure.\n\n"
            "Figure 2: Not linked.\n\n> **Warning:** careful\n");
  EXPECT_THAT(refusal([](Page& other) { other.figure({.svg = kSvg, .link = "a>b"}); }),
              StartsWith("link: expected"));
}

TEST_F(PageTest, SignsOfMarkdownAreEscapedWhereTheyMeanSomething) {
  const std::vector<std::vector<std::string>> texts = {
      {"breast_cancer -0.98 < 1 & 2 > 1", "breast_cancer -0.98 < 1 & 2 > 1"},
      {"_a_ *b* `c` [d](e) $f$ g~~h", "\\_a\\_ \\*b\\* \\`c\\` \\[d](e) \\$f\\$ g\\~\\~h"},
      {"<i> &amp; \\", "\\<i> \\&amp; \\\\"},
      {"# x", "\\# x"},
      {"-0.98\n--- is no rule", "-0.98\n\\--- is no rule"},
      {"- x\n  + y\n> z", "\\- x\n\\+ y\n\\> z"},
      {"12. x\n3) y\n1.5 is fine", "12\\. x\n3\\) y\n1.5 is fine"}};
  for (const auto& text : texts) {
    Page page("t");
    page.paragraph(text[0]);
    EXPECT_EQ(page.markdown(), "# t\n\n" + text[1] + "\n");
  }
}

TEST_F(PageTest, FoldsHideWhatFollowsUntilTheyEnd) {
  Page page("t");
  page.fold("a < b");
  page.paragraph("inside");
  page.fold("deeper");
  page.paragraph("far inside");
  page.unfold();
  page.unfold();
  page.paragraph("outside");
  EXPECT_THAT(page.html(), HasSubstr("<details>\n<summary>a &lt; b</summary>\n<p>inside</p>\n"
                                     "<details>\n<summary>deeper</summary>\n<p>far inside</p>\n"
                                     "</details>\n</details>\n<p>outside</p>\n"));
  EXPECT_EQ(page.markdown(),
            "# t\n\n<details>\n<summary>a &lt; b</summary>\n\ninside\n\n"
            "<details>\n<summary>deeper</summary>\n\nfar inside\n\n"
            "</details>\n\n</details>\n\noutside\n");
  EXPECT_THAT(refusal([](Page& other) { other.unfold(); }), HasSubstr("expected an open fold"));
}

TEST_F(PageTest, FoldsThatAreOpenEndWithThePage) {
  Page page("t");
  page.fold("more");
  page.paragraph("inside");
  EXPECT_THAT(page.html(), HasSubstr("<p>inside</p>\n</details>\n</main>"));
  EXPECT_THAT(page.markdown(), EndsWith("inside\n\n</details>\n"));
}

TEST_F(PageTest, VerdictsAreColouredAndInWords) {
  Page page("t");
  page.verdict("holds", "on 2 of 2 < 3.", Verdict::good);
  page.verdict("open", "yet", Verdict::none);
  EXPECT_THAT(
      page.html(),
      AllOf(HasSubstr("<p class=\"verdict good\"><strong>holds</strong> on 2 of 2 &lt; 3.</p>"),
            HasSubstr("<p class=\"verdict\"><strong>open</strong> yet</p>")));
  EXPECT_EQ(page.markdown(), "# t\n\n**holds** on 2 of 2 < 3.\n\n**open** yet\n");
}

TEST_F(PageTest, CellsLeadToHeadings) {
  Page page("t");
  page.heading("There", 2, "there");
  Cell cell("a|b");
  cell.link = "there";
  page.table({"x"}, {{cell}});
  EXPECT_THAT(page.html(), HasSubstr("<td><a href=\"#there\">a|b</a></td>"));
  EXPECT_THAT(page.markdown(), HasSubstr("| [a\\|b](#there) |"));
  EXPECT_THAT(refusal([](Page& other) {
                Cell bad("x");
                bad.link = "a b";
                other.table({"x"}, {{bad}});
              }),
              HasSubstr("link: expected"));
}

TEST_F(PageTest, SavesTheFormOfTheExtension) {
  Page page("title");
  page.paragraph("text");
  page.save(path("a.html"));
  page.save(path("a.md"));
  EXPECT_EQ(testing::bytes_of(path("a.html")), page.html());
  EXPECT_EQ(testing::bytes_of(path("a.md")), page.markdown());
  EXPECT_THAT(testing::problem_of(path("a.txt"), [&](const auto& p) { page.save(p); }),
              HasSubstr(".html or .md"));
  EXPECT_THAT(testing::problem_of(path("none/a.md"), [&](const auto& p) { page.save(p); }),
              HasSubstr("directory"));
  EXPECT_EQ(files_in_folder(), 2U);
}

}  // namespace
}  // namespace jeffreys::report
