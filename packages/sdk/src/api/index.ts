// `@sonde/sdk/api`: what answers of the HTTP API mean, for the agent that gives them and the page that shows them. It
// imports nothing that a browser has not. It changes without notice.

export { byWeightIn, byWeightNow, type HintSpan, type HintWindow, heldWithinMs, spanOfHint } from './hints.ts'
