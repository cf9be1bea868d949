/** First characters by which spreadsheets take a cell for a formula; the wide forms count in some languages. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]./su

/**
 * A text as a cell of CSV or TSV that spreadsheets show and never compute: an apostrophe stands before what would be a
 * formula. Names of devices and labels come from outside. Use it for texts only: `-5` as a number is no formula.
 */
export function spreadsheetText(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}
