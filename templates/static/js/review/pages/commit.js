// The page of a commit, or of two of its versions, and its threads.

import "../commit.js";
import "../threads/main.js";
