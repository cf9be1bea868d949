import { SondeError } from '@sonde/sdk'
import {
  block,
  boundedText,
  type Checked,
  choice,
  flag,
  hostNames,
  integer,
  list,
  listenHost,
  pattern,
  section,
  setting,
} from '@sonde/sdk/config'
import { checkDestinations, type Destination, exportEntries } from '@sonde/sdk/internal'
import * as v from 'valibot'
import type { ServiceConfig } from './service/config.ts'
import type { DataSourceConfig } from './sources/data-sources.ts'
import type { SourcePaths } from './sources/source.ts'
import type { TracebackConfig } from './traceback/config.ts'

/** Schema of `paths`: roots below which the kernel's files are read. */
export const pathsSchema = block({
  procfs: setting(
    boundedText(),
    '/proc',
    'Root of the procfs that is read; another one in a container, such as /host/proc',
  ),
  sysfs: setting(boundedText(), '/sys', 'Root of the sysfs that is read'),
  devfs: setting(boundedText(), '/dev', 'Root of the device nodes that `sonde explain` looks at'),
})

/** Schema of `native`: libraries of vendors. */
export const nativeSchema = block({
  doca_library: setting(
    boundedText(0),
    '',
    'Path of `libdoca_telemetry.so.2`, or of the folder that it and `libdoca_common.so.2` are in. Empty: where the loader looks, and where DOCA installs them',
  ),
  nvml_library: setting(
    boundedText(0),
    '',
    'Path of `libnvidia-ml.so.1`, or of its folder. Empty: where drivers and container runtimes put it',
  ),
})

/** An optional path. */
function folder(description: string) {
  return v.optional(v.pipe(boundedText(), v.description(description)))
}

/** Schema of `export.prometheus`. */
export const prometheusSchema = block({
  host: setting(
    listenHost(),
    '127.0.0.1',
    'Address to listen on, for the page and the API too; beyond loopback the API needs a login',
  ),
  port: setting(integer(0, 65_535, '0 is any free port'), 9394, 'Port to listen on'),
  path: setting(
    pattern(
      /^\/(?!(?:healthz|readyz|api|api\/.*)?$)[A-Za-z0-9/_.-]+$/,
      'a path such as /metrics, not that of another route',
    ),
    '/metrics',
    'Where metrics are served',
  ),
  allowed_hosts: setting(
    hostNames(),
    [],
    'Further host names by which browsers may reach the page and the API; see [the HTTP API](http-api.md)',
  ),
  timestamps: setting(flag(), false, 'Whether lines carry the time of their record'),
  series_expiry_s: setting(
    integer(10, 86_400, 'seconds'),
    300,
    'A series without a record for this long is taken out of `/metrics`',
  ),
  series_limit: setting(
    integer(100, 10_000_000, 'series a type'),
    50_000,
    'Series of one type at most; records of further ones are dropped and counted',
  ),
  source_tags: setting(
    list(boundedText(1, 200), 64, 'tags'),
    [],
    'Tags of the applications whose records are served; `counters` stands for what has no tag, as the sources of this agent. Empty: everything',
  ),
  cset_dir: folder('Folder of the `.cset` files, which select metrics for `/cset/NAME`. Default: `fset_dir`'),
  fset_dir: folder('Folder of the `.fset` files, which select fields for `/fset/NAME`. Default: `cset_dir`'),
  indexes: setting(
    list(pattern(/^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/, 'the name of a field'), 64, 'names'),
    [],
    'Fields that become labels too, so each of their values keeps its latest record',
  ),
  metadata_file: folder(
    'Label file: lines `name=value`, or a `level_labels.ini`; see [Prometheus](prometheus.md#labels-from-a-file). Default: none',
  ),
  constant_labels: setting(
    list(pattern(/^[A-Za-z_][A-Za-z0-9_]{0,127}=[^\r\n]{0,1024}$/, 'name=value'), 32, 'labels'),
    [],
    'Labels added to every series that lacks a label of that name',
  ),
  copy_pod_labels: setting(
    flag(),
    false,
    'Whether series of a GPU in `/metrics` carry the labels of its pod: `namespace`, `pod`, and those that `pod_labels` of the source `kubernetes` names; see [pods](pods.md#copies-of-labels)',
  ),
  node: v.optional(
    v.pipe(
      pattern(/^[^\r\n]{1,1024}$/, 'a name of 1 to 1024 characters'),
      v.description('Label `node` added to every series that lacks one. Default: there is no such label'),
    ),
  ),
  scrape_port: v.optional(
    v.pipe(
      integer(0, 65_535, '0 is any free port'),
      v.description(
        'Port on all addresses of this machine that serves `path`, `/healthz` and `/readyz`, and nothing else. It may be that of `port`. Default: there is none',
      ),
    ),
  ),
})

/** How the destinations of an agent are spelt. */
const RULES = { spelling: 'snake', isAgent: true } as const

/** Sinks of the agent's own, whose names no destination may have. */
const OWN_SINKS = ['prometheus', 'recent', 'devices', 'hints', 'store', 'service', 'self', 'traceback']

/** Schema of `export`: the listener, and destinations, each a block or a list of blocks. */
export const exportSchema = block({
  prometheus: section(prometheusSchema.entries),
  ...(exportEntries(RULES) as Record<never, never>),
})

/** The destinations of an `export` that passed its schema, also those that are switched off. */
export function checkExport(exports: object): Checked<readonly Destination[]> {
  return checkDestinations(exports as Readonly<Record<string, unknown>>, RULES, OWN_SINKS)
}

/**
 * Where records go beside the agent's own views.
 *
 * @throws SondeError `CFG_INVALID` where destinations do not go together, which {@link checkExport} would have said.
 */
export function destinationsOf(config: Pick<AgentConfig, 'export'>): readonly Destination[] {
  const checked = checkExport(config.export)
  if (checked.ok) return checked.value.filter(({ enabled }) => enabled)
  const faults = checked.issues.map(({ path, fault, allowed }) => `${path} ${fault}; allowed: ${allowed}`)
  throw new SondeError('CFG_INVALID', faults.join('\n'))
}

/** Schema of `limits`. */
export const limitsSchema = block({
  recent_window_s: setting(
    integer(10, 3600, 'seconds'),
    300,
    'How far back memory reaches; what `sonde agent` has instead of a store',
  ),
  recent_bytes: setting(
    integer(1 << 20, 2 ** 32, 'bytes'),
    16 << 20,
    'Memory for recent records; the oldest leave first',
  ),
  connections: setting(
    integer(1, 65_535, 'connections'),
    1024,
    'Connections to the listener at a time, a quarter of the descriptors of the process at most; with one more, that is closed and counted which has asked for nothing for longest, live streams aside',
  ),
  stream_clients: setting(
    integer(1, 10_000, 'open live streams'),
    64,
    'Live streams at a time; a further one takes the place of the oldest, once that was open for a minute, else it is refused with 503; both are counted',
  ),
  stream_queries_per_s: setting(
    integer(1, 1_000_000, 'queries a second'),
    1000,
    'Different queries that the live streams evaluate: each counts once a step, however many follow it. A stream that would ask for more is refused with 503 and counted',
  ),
  parallel_queries: setting(
    integer(1, 1000, 'requests'),
    32,
    'Queries that are answered at a time; further ones wait: clients take turns. After 20 s they are refused with 503 and counted',
  ),
  gpu_metrics_max_pods: setting(
    integer(1, 500, 'services'),
    100,
    'Services of one request for GPU series; a request for more is refused with 400. The name comes from other products',
  ),
  gpu_metrics_max_concurrent: setting(
    integer(1, 50, 'requests'),
    10,
    'Requests for GPU series of services that are answered at a time; further ones are refused with 503',
  ),
  gpu_metrics_max_cells: setting(
    integer(1000, 2_000_000, 'values'),
    250_000,
    'Values in one answer of GPU series: services times points times fields; more are refused with 400',
  ),
  source_call_ms: setting(
    integer(100, 600_000, 'milliseconds'),
    5000,
    'A call of a source that takes longer marks its device as stuck, and the others go on; a host that is blocked by it, or has nothing else left, is replaced; time in which its process waits for a processor does not count',
  ),
  source_flood_bytes: setting(
    integer(1 << 16, 2 ** 32, 'bytes of records'),
    16 << 20,
    'What a device of a source may report in an interval; more is dropped and counted',
  ),
})

/** Schema of `log`. */
export const logSchema = block({
  level: setting(
    choice(['fatal', 'error', 'warn', 'info', 'debug', 'trace']),
    'info',
    'Lines below this level are not written',
  ),
})

/** The configuration of the agent. */
export interface AgentConfig {
  readonly dataSources: readonly DataSourceConfig[]
  readonly paths: SourcePaths
  readonly export: v.InferOutput<typeof exportSchema>
  readonly limits: v.InferOutput<typeof limitsSchema>
  readonly service: ServiceConfig
  /** Default: every default of its schema, and no rules. */
  readonly traceback?: TracebackConfig
}
