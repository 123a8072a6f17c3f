"""Builds the extension module by CMake, in the build folder that is there already if it fits."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent.parent
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
JOBS = os.environ.get("JOBS", str(os.cpu_count() or 1))


def cmake(*arguments):
    subprocess.run(["cmake", *map(str, arguments)], check=True)


def configured_here(folder):
    """Whether CMake configured this folder for these sources, and for a Python like this one."""
    try:
        cache = (folder / "CMakeCache.txt").read_text()
    except OSError:
        return False
    lines = dict(line.split("=", 1) for line in cache.splitlines() if "=" in line)
    python = lines.get("Python_EXECUTABLE:FILEPATH", "/usr/bin/python3")
    return lines.get("CMAKE_HOME_DIRECTORY:INTERNAL") == str(ROOT) and same_python(python)


def same_python(python):
    ask = "import sysconfig; print(sysconfig.get_config_var('EXT_SUFFIX'))"
    try:
        found = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return False
    return found.strip() == SUFFIX


class CMakeBuild(build_ext):
    """JEFFREYS_BUILD names a build folder; otherwise it is build/release, or build/python by itself."""

    def build_extension(self, extension):
        folder = Path(os.environ.get("JEFFREYS_BUILD", ROOT / "build" / "release"))
        if configured_here(folder):
            cmake("-DJEFFREYS_PYTHON=ON", folder)
        else:
            folder = ROOT / "build" / "python"
            cmake(
                "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DJEFFREYS_PYTHON=ON",
                "-DJEFFREYS_BUILD_PROGRAM=OFF", "-DJEFFREYS_BUILD_TESTS=OFF", "-DJEFFREYS_BUILD_BENCHMARKS=OFF",
                f"-DPython_EXECUTABLE={sys.executable}",
            )  # fmt: skip
        cmake("--build", folder, "--parallel", JOBS, "--target", "jeffreys_python")
        target = Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(folder / "python" / "jeffreys" / f"_core{SUFFIX}", target)
        if shutil.which("strip"):
            subprocess.run(["strip", "--strip-unneeded", str(target)], check=True)


setup(ext_modules=[Extension("jeffreys._core", sources=[])], cmdclass={"build_ext": CMakeBuild})
