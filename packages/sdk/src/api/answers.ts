import type { AuditAnswer, SessionAnswer } from './access.ts'
import type { AnnotationsAnswer } from './annotations.ts'
import type { AppGpuAnswer, AppMetricsAnswer, AppProcess, AppService, AppsAnswer, PodsAnswer } from './apps.ts'
import type { LatestAnswer, TypesAnswer } from './catalogue.ts'
import type { DevicesAnswer } from './devices.ts'
import type { EventAnswer } from './events.ts'
import type { ExplainAnswer } from './explain.ts'
import type { HintsAnswer } from './hints.ts'
import type { IncidentAnswer, IncidentsAnswer, MovedAnswer, PinsAnswer } from './incidents.ts'
import type { NodeAnswer } from './node.ts'
import type { NodesAnswer, VersionsAnswer } from './nodes.ts'
import type { ParamsAnswer } from './params.ts'
import type { PodAnswer } from './pods.ts'
import type { JsonQueryAnswer, StreamFault, StreamGap } from './query.ts'
import type { RatesAnswer } from './rates.ts'
import type { ScraperAnswer } from './scraper.ts'
import type { SimulatorAnswer } from './simulator.ts'
import type { SourceAnswer, SourcesAnswer } from './sources.ts'
import type { TracebackAnswer } from './traceback.ts'
import type { TroubleshootingAnswer } from './troubleshooting.ts'
import type { WebhookDeliveriesAnswer, WebhooksAnswer } from './webhooks.ts'

/** What each address answers to `GET` as JSON: servers are checked against it, and clients read by it. */
export interface ApiAnswers {
  readonly '/api/v1/node': NodeAnswer
  readonly '/api/v1/versions': VersionsAnswer
  readonly '/api/v1/nodes': NodesAnswer
  readonly '/api/v1/sources': SourcesAnswer
  readonly '/api/v1/sources/:name': SourceAnswer
  readonly '/api/v1/types': TypesAnswer
  readonly '/api/v1/series': LatestAnswer
  readonly '/api/v1/query': JsonQueryAnswer
  readonly '/api/v1/rates': RatesAnswer
  readonly '/api/v1/devices': DevicesAnswer
  readonly '/api/v1/hints': HintsAnswer
  readonly '/api/v1/incidents': IncidentsAnswer
  readonly '/api/v1/incidents/:id': IncidentAnswer
  readonly '/api/v1/incidents/:id/moved': MovedAnswer
  readonly '/api/v1/incidents/:id/lanes': EventAnswer
  readonly '/api/v1/pins': PinsAnswer
  readonly '/api/v1/annotations': AnnotationsAnswer
  readonly '/api/v1/explain': ExplainAnswer
  readonly '/api/v1/traceback': TracebackAnswer
  readonly '/api/v1/simulator': SimulatorAnswer
  readonly '/api/v1/apps': AppsAnswer
  readonly '/api/v1/apps/:app/gpu': AppGpuAnswer
  readonly '/api/v1/apps/:app/services': readonly AppService[]
  readonly '/api/v1/apps/:app/services/:service/metrics': AppMetricsAnswer
  readonly '/api/v1/apps/:app/metrics-by-service': AppMetricsAnswer
  readonly '/api/v1/apps/:app/processes': readonly AppProcess[]
  readonly '/api/v1/apps/:app/processes/:pod': readonly AppProcess[]
  readonly '/api/v1/pods': PodsAnswer
  readonly '/api/v1/pods/:namespace/:pod': PodAnswer
  readonly '/api/v1/session': SessionAnswer
  readonly '/api/v1/audit': AuditAnswer
  readonly '/api/v1/params': ParamsAnswer
  readonly '/api/v1/scraper': ScraperAnswer
  readonly '/api/v1/troubleshooting': TroubleshootingAnswer
  readonly '/api/v1/webhooks': WebhooksAnswer
  readonly '/api/v1/webhooks/deliveries': WebhookDeliveriesAnswer
}

/** Data of the events of `/api/v1/stream` and `/api/v1/incidents/stream`, by name. */
export interface StreamEvents {
  readonly points: JsonQueryAnswer
  readonly gap: StreamGap
  readonly state: NodeAnswer
  readonly hints: HintsAnswer
  readonly incidents: IncidentsAnswer
  /** The last event of a stream that the server ends. */
  readonly fault: StreamFault
}

/** Body of every answer that is an error. */
export interface ErrorAnswer {
  readonly error: StreamFault
}
