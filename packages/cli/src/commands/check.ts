import { checkSocketsDir, checkTraceback, type ProbeOptions, probeSources } from '@sonde/agent'
import { destinationsOf } from '@sonde/agent/config'
import { checkStore } from '@sonde/console'
import { SondeError } from '@sonde/sdk'
import { countOf, type FieldSet, FieldSets, inlineSet, messageOf, printable } from '@sonde/sdk/internal'
import type { Loaded } from '../config/load.ts'
import { storePath } from '../config/store-path.ts'
import { agentAddress } from './agent-address.ts'
import { estimateWords, ratesAt } from './check-rates.ts'
import { hostAndPort, type ListenAddress, tryListener } from './listener.ts'
import { listenAddresses } from './listeners.ts'
import { openServerTls } from './server-tls.ts'

type AgentConfig = Loaded['config']['agent']
type PrometheusConfig = AgentConfig['export']['prometheus']

/** What `sonde check` may do. */
interface CheckOptions extends ProbeOptions {
  /** Whether it opens each connection of the destinations once. */
  readonly triesDestinations: boolean
}

/** A problem that the check found. An absent device is no problem. */
const FAULTS = new Set(['denied', 'stuck', 'failed', 'damaged', 'taken'])

/**
 * `sonde check`: checks the configuration, the listen addresses, whether applications can report, each destination, the
 * rules, the folders of events and history, and what each source would find on this machine. It changes nothing, runs
 * no vendor code unless it may load libraries, and connects to no destination unless it tries them. If there are
 * destinations, it asks a running agent of this machine for the rates of its series. Exit code 0 unless an address is
 * in use, access is denied, a device is stuck, or a part failed or is damaged.
 */
export async function checkNode({ config, file }: Loaded, options: CheckOptions): Promise<number> {
  const rows = [['configuration', 'ok', file ?? 'defaults (no file)']]
  for (const place of await listenAddresses(config.agent.export.prometheus)) rows.push(await listenerRow(place))
  rows.push(...(await tlsRows(config)))
  rows.push(...(await fieldSetRows(config.agent.export.prometheus)))
  if (config.agent.service.enabled) {
    const { state, found } = await checkSocketsDir(config.agent.service.sockets_dir)
    rows.push(['service', state, found])
  }
  rows.push(...(await destinationRows(config, options)))
  if (config.agent.traceback !== undefined)
    for (const { of, state, found } of await checkTraceback(config.agent.traceback)) rows.push([of, state, found])
  if (config.store.enabled) {
    const { state, found } = checkStore(storePath(config.store))
    rows.push(['history', state, found])
  }
  for (const { name, probe } of await probeSources(config.agent, options)) {
    rows.push([name, probe.state, probe.state === 'present' ? probe.found : probe.reason])
  }
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  for (const row of rows)
    console.log(
      row
        .map((cell, i) => printable(cell).padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
  return rows.some(([, state]) => FAULTS.has(state ?? '')) ? 1 : 0
}

/** The certificate of the listener, if it has one. */
async function tlsRows(config: Loaded['config']): Promise<string[][]> {
  const silent = { info: () => undefined, warn: () => undefined }
  try {
    const tls = await openServerTls({ config }, silent)
    if (tls === undefined) return []
    const { endsMs } = tls.status()
    const ends = new Date(endsMs).toISOString().slice(0, 10)
    return [['certificate', ...(endsMs < Date.now() ? ['failed', `ended ${ends}`] : ['ok', `ends ${ends}`])]]
  } catch (error) {
    return [['certificate', 'failed', messageOf(error)]]
  }
}

/** Checks the field set of a destination first: without it the destination gets no records. */
async function destinationRows(whole: Loaded['config'], { triesDestinations }: CheckOptions): Promise<string[][]> {
  const config = whole.agent
  const sets = setsOf(config.export.prometheus)
  const rows: string[][] = []
  const destinations = destinationsOf(config)
  const rates = destinations.length === 0 ? '' : await ratesAt(agentAddress({ config: whole }))
  for (const destination of destinations) {
    const { definition, name, options, common, place } = destination
    try {
      const set = await fieldSetOf(sets, common.fieldSet)
      const finding = triesDestinations ? definition.tryConnection?.(options) : undefined
      const { state, found } = await (finding ?? definition.look(options, place))
      rows.push([name, state, found], [name, 'estimate', estimateWords(destination, set, rates)])
    } catch (error) {
      rows.push([name, 'denied', messageOf(error)])
    }
  }
  return rows
}

async function fieldSetOf(
  sets: FieldSets,
  given: string | readonly string[] | undefined,
): Promise<FieldSet | undefined> {
  if (given === undefined) return undefined
  return typeof given === 'string' ? sets.get(given) : inlineSet(given)
}

function setsOf({ cset_dir: csetDir, fset_dir: fsetDir }: PrometheusConfig): FieldSets {
  return new FieldSets({ csetDir, fsetDir, onFault: () => undefined })
}

async function fieldSetRows(prometheus: PrometheusConfig): Promise<string[][]> {
  const sets = setsOf(prometheus)
  if (!sets.isOn) return []
  const { files, faults } = await sets.check()
  if (faults.length > 0) return faults.map((fault) => ['field sets', 'damaged', fault])
  return [['field sets', 'ok', countOf(files, 'file')]]
}

async function listenerRow(place: ListenAddress): Promise<string[]> {
  try {
    await tryListener(place)
    return ['listener', 'free', hostAndPort(place.host, place.port)]
  } catch (error) {
    const isTaken = error instanceof SondeError && codeOf(error.cause) === 'EADDRINUSE'
    return ['listener', isTaken ? 'taken' : 'denied', messageOf(error)]
  }
}

function codeOf(cause: unknown): string | undefined {
  return (cause as { code?: string } | undefined)?.code
}
