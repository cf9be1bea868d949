import { checkSocketsDir, checkTraceback, type ProbeOptions, probeSources } from '@sonde/agent'
import { destinationsOf } from '@sonde/agent/config'
import { checkStore } from '@sonde/console'
import { SondeError } from '@sonde/sdk'
import { countOf, FieldSets, messageOf, printable } from '@sonde/sdk/internal'
import type { Loaded } from '../config/load.ts'
import { storePath } from '../config/store-path.ts'
import { hostAndPort, type ListenAddress, tryListener } from './listener.ts'
import { listenAddresses } from './listeners.ts'

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
 * no vendor code unless it may load libraries, and connects nowhere unless it tries destinations. Exit code 0 unless an
 * address is in use, access is denied, a device is stuck, or a part failed or is damaged.
 */
export async function checkNode({ config, file }: Loaded, options: CheckOptions): Promise<number> {
  const rows = [['configuration', 'ok', file ?? 'defaults (no file)']]
  for (const place of await listenAddresses(config.agent.export.prometheus)) rows.push(await listenerRow(place))
  rows.push(...(await fieldSetRows(config.agent.export.prometheus)))
  if (config.agent.service.enabled) {
    const { state, found } = await checkSocketsDir(config.agent.service.sockets_dir)
    rows.push(['service', state, found])
  }
  rows.push(...(await destinationRows(config.agent, options)))
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

/** Checks the field set of a destination first: without it the destination gets no records. */
async function destinationRows(config: AgentConfig, { triesDestinations }: CheckOptions): Promise<string[][]> {
  const sets = setsOf(config.export.prometheus)
  const rows: string[][] = []
  for (const { definition, name, options, common, place } of destinationsOf(config)) {
    try {
      if (typeof common.fieldSet === 'string') await sets.get(common.fieldSet)
      const finding = triesDestinations ? definition.tryConnection?.(options) : undefined
      const { state, found } = await (finding ?? definition.look(options, place))
      rows.push([name, state, found])
    } catch (error) {
      rows.push([name, 'denied', messageOf(error)])
    }
  }
  return rows
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
