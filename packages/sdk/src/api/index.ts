// `@sonde/sdk/api`: the types of the HTTP API, for servers that answer and for clients such as the page. It imports
// nothing that a browser does not have. It changes without notice.

export { spreadsheetText } from '../internal/spreadsheet-text.ts'
export type { LatestSeries, ListedType } from '../query/catalogue.ts'
export type {
  Bin,
  HistoryStatus,
  Matcher,
  QueryAnswer,
  QueryFunction,
  QueryResult,
  SeriesAnswer,
} from '../query/form.ts'
export type { Labels } from '../schema/series.ts'
export type * from './access.ts'
export type { Annotation, AnnotationsAnswer } from './annotations.ts'
export type * from './answers.ts'
export type * from './apps.ts'
export { GPU_FIELDS } from './apps.ts'
export type * from './catalogue.ts'
export type * from './devices.ts'
export type * from './events.ts'
export type * from './explain.ts'
export type * from './hints.ts'
export { byWeightIn, byWeightNow, spanOfHint } from './hints.ts'
export type * from './incidents.ts'
export { INCIDENT_MARGIN_MS, isInWindow, spanOfIncident } from './incidents.ts'
export type * from './node.ts'
export type * from './nodes.ts'
export type * from './params.ts'
export type * from './pods.ts'
export type * from './query.ts'
export type * from './rates.ts'
export { type RouteParameters, routeAddress } from './route-address.ts'
export type * from './scraper.ts'
export type * from './simulator.ts'
export type * from './sources.ts'
export type * from './traceback.ts'
export type * from './troubleshooting.ts'
export type * from './webhooks.ts'
