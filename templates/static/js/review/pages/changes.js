// What is not committed, and its threads.

import "../changes.js";
import "../threads/main.js";
