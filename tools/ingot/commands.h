// SPDX-License-Identifier: Apache-2.0
// The commands of the command line. Each gets its own arguments, argv[0] being `ingot COMMAND`, and
// gives the exit status. Called by main.cpp.
#pragma once

namespace ingot::cli {

int compile(int argc, char** argv);
int run(int argc, char** argv);
int check(int argc, char** argv);
int bench(int argc, char** argv);
int tune(int argc, char** argv);
int explain(int argc, char** argv);
int cache(int argc, char** argv);

} // namespace ingot::cli
