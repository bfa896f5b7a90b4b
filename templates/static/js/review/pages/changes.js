// The page of uncommitted changes, and their threads.

import "../changes.js";
import "../threads/main.js";
