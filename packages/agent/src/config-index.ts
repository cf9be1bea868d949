// `@sonde/agent/config`: checks of a configuration without the agent, for commands that do not run an agent.

export {
  type AgentConfig,
  checkExport,
  destinationsOf,
  exportSchema,
  limitsSchema,
  logSchema,
  nativeSchema,
  pathsSchema,
} from './config.ts'
export { RULE_LIMITS } from './rules/read/limits.ts'
export { defaultServiceDir, serviceSchema } from './service/config.ts'
export {
  type CheckedDataSource,
  checkDataSources,
  type DataSourceConfig,
  dataSourceSchema,
  defaultDataSources,
  intervalMs,
} from './sources/data-sources.ts'
export { devicePatterns } from './sources/device-filter.ts'
export { DOCA_HOST } from './sources/doca/options.ts'
export { isFirstPortCounter } from './sources/doca-telemetry-diag/counters.ts'
export { SOURCES } from './sources/registry.ts'
export { PAST_MAX_S } from './sources/simulator/config.ts'
export { parseScenario } from './sources/simulator/scenarios/flag.ts'
export type { SourceDefinition, SourcePaths } from './sources/source.ts'
export { defaultTracebackDir, tracebackSchema } from './traceback/config.ts'
export { isEventsName } from './traceback/keep/disk.ts'
