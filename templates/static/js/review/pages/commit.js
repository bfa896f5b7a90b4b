// A commit, or two of its versions, and its threads.

import "../commit.js";
import "../threads/main.js";
