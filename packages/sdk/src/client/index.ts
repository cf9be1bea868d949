// `@sonde/sdk/client`: reads the HTTP API of an agent or a console. It imports nothing that a browser does not have.

export type { ChartLimits } from '../api/chart-request.ts'
export { SondeError } from '../errors.ts'
export {
  ApiClient,
  type ApiWindow,
  type AppMetricsWanted,
  type CallOptions,
  createApiClient,
  type IncidentsWanted,
  type StreamWanted,
} from './api-client.ts'
export type { StreamMessage } from './follow-events.ts'
export type { ApiClientOptions } from './options.ts'
