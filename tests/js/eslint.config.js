// What is wrong, or may be, but not how it is laid out: that is prettier's.

import js from "@eslint/js";

export default [
  {
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      ...js.configs.recommended.rules,
      "no-undef": "off", // the types know every name
      "no-unused-vars": ["error", { argsIgnorePattern: "^_", ignoreRestSiblings: true }],
      eqeqeq: "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-else-return": "error",
      "no-lonely-if": "error",
      "no-restricted-properties": [
        "error",
        ...["innerHTML", "outerHTML", "insertAdjacentHTML"].map((property) => ({
          property,
          message: "Make nodes with h() of js/kit/dom.js: text stays text.",
        })),
      ],
      "no-self-compare": "error",
      "no-template-curly-in-string": "error",
      "no-throw-literal": "error",
      "no-unreachable-loop": "error",
      "no-useless-rename": "error",
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": ["error", { destructuring: "all" }],
      "prefer-rest-params": "error",
    },
  },
  {
    files: ["tests/js/**"],
    rules: { "no-restricted-properties": "off" }, // they look at what was made
  },
  {
    files: ["templates/static/js/dashboard/ansi.js", "tests/js/dashboard/ansi.test.js"],
    rules: { "no-control-regex": "off" }, // it reads them
  },
];
