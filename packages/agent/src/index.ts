export { Agent, createAgent } from './agent.ts'
export type { AgentOptions } from './agent-options.ts'
export type { AgentFacts } from './explain/agent-facts.ts'
export { explain } from './explain/explain.ts'
export { type ExplainOptions, isUnbroken } from './explain/explanation.ts'
export { runTrial } from './explain/trial.ts'
export { type ProbeOptions, probeSources } from './hosting/hosts.ts'
export { admit, type Door } from './http/admission.ts'
export { agentCatalogue } from './http/agent-catalogue.ts'
export { catalogueRoutes } from './http/catalogue.ts'
export { endAnswersWithin } from './http/ending.ts'
export { createHttpServer, type Served } from './http/http-server.ts'
export { type Polled, polledStreamRoute } from './http/polled-stream.ts'
export { queryRoutes } from './http/query.ts'
export { QueryPlaces } from './http/query-places.ts'
export { agentRoutes, createServer } from './http/server.ts'
export { UnreadAnswers } from './http/unread-answers.ts'
export { HttpStats } from './pipeline/http-stats.ts'
export { readCompatBook } from './rules/compat/compat-book.ts'
export { type ReadRules, readRuleBook } from './rules/read/read-rule-book.ts'
export { RuleFaults } from './rules/read/rule-faults.ts'
export { rulesSchema } from './rules/read/rules-schema.ts'
export { checkSocketsDir, type SocketsDirFinding } from './service/directory.ts'
export type { Finding } from './sources/chains/chain.ts'
export { type ChainContext, KernelContext } from './sources/chains/chain-context.ts'
export type {
  Duty,
  LibraryDefinition,
  LoadedSource,
  NodeSource,
  Probe,
  SourceContext,
  SourceDefinition,
} from './sources/source.ts'
export { checkTraceback, type TracebackFinding } from './traceback/check-traceback.ts'
export { type FeedPaths, feedOpener } from './traceback/feed/open-feed.ts'
export type { FeedInfo, OpenFeed } from './traceback/feed/sample-feed.ts'
export { csvRows } from './traceback/log/csv-rows.ts'
export type { EventLimits } from './traceback/log/events-log.ts'
export { jsonRows } from './traceback/log/json-rows.ts'
export type { LogFileOptions } from './traceback/log/log-file.ts'
export { endDespiteCalls } from './traceback/run/end-despite-calls.ts'
export { runCompatible } from './traceback/run/run-compatible.ts'
export { runTraceback, type TracebackTotals } from './traceback/run/run-traceback.ts'
