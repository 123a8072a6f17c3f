# Makes a source of every C++ block in a document: awk -v name=NAME -f snippets.awk DOCUMENT
# A block without #include lines goes on from the ones before it.
/^```cpp/ { inside = 1; includes = ""; body = ""; next }
/^```/ && inside {
  inside = 0
  if (includes == "") includes = "#include \"jeffreys/jeffreys.h\"\n#include \"jeffreys/model/zuko_archive.h\"\n"
  file = name "_" ++count ".cc"
  printf "%s#include <iostream>\n\nvoid %s_%d();\nvoid %s_%d() {\n%s}\n", includes, name, count, name, count, body > file
  close(file)
}
inside && /^#include/ { includes = includes $0 "\n"; next }
inside { body = body $0 "\n" }
