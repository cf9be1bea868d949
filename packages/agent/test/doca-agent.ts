import type { TestContext } from 'node:test'
import { SondeError } from '@sonde/sdk'
import * as v from 'valibot'
import { DocaDouble, type DoubleDevice, type DoubleOptions } from '../../../test/doubles/doca/doca-double.ts'
import { until } from '../../../test/sonde-process.ts'
import { docaTelemetryAdpRetx } from '../src/sources/doca-telemetry-adp-retx/doca-telemetry-adp-retx.ts'
import type { SourceDefinition } from '../src/sources/source.ts'
import { TestNode } from '../src/sources/test-node.ts'
import { serveAgent } from './served-agent.ts'

/** Name of the source of {@link readDouble}. */
export const SOURCE: string = docaTelemetryAdpRetx.name
/** Unit: microseconds. */
const LIST_EVERY_US = 50_000
/** Unit: milliseconds. */
const STUCK_MS = 200
/** Longest that is waited for. Unit: milliseconds. */
const LIMIT_MS = 60_000

/** The source as `/api/v1/sources` tells of it. */
export interface ToldSource {
  readonly name: string
  readonly state: string
  readonly reason: string
  readonly restarts: number
  readonly stuck: readonly { readonly device: string; readonly duty: string }[]
}

/** What {@link readDouble} starts with. Default: three devices without a fault. */
export interface DoubleStart extends DoubleOptions {
  readonly devices?: Readonly<Record<string, DoubleDevice>>
  readonly faults?: readonly string[]
  /** Sources of the same library beside that of adaptive retransmission. Default: none. */
  readonly beside?: readonly SourceDefinition[]
  /** `native.doca_library`. Default: the folder of the double. */
  readonly library?: (double: DocaDouble) => string
}

/** Devices `mlx5_0` and so on with counters; `own`: further properties of the second device. */
export function devicesOf(count: number, own: DoubleDevice = {}): Record<string, DoubleDevice> {
  const names = Array.from({ length: count }, (_, at) => `mlx5_${at}`)
  return Object.fromEntries(names.map((name, at) => [name, { bins: [1000], ...(at === 1 ? own : {}) }]))
}

/** A source of DOCA, which says sooner that a device is stuck. */
function hasty(definition: SourceDefinition): SourceDefinition {
  const options = { ...v.parse(definition.options, {}), stuck_ms: STUCK_MS, accept_taint: true }
  const schema = v.pipe(
    v.object({}),
    v.transform(() => options),
  )
  return { ...definition, options: schema }
}

/** An agent that reads a double, whose clocks run, and beside it a source that has nothing to do with it. */
export async function readDouble(t: Pick<TestContext, 'after'>, start: DoubleStart = {}) {
  const { devices = devicesOf(3), faults = [], beside = [], library = ({ folder }) => folder } = start
  const double = new DocaDouble(t, start)
  double.play(devices, faults)
  const paths = { ...new TestNode(t).paths, doca_library: library(double) }
  const definitions = [docaTelemetryAdpRetx, ...beside]
  const { agent, address } = await serveAgent(t, { sources: definitions.map(hasty), paths })
  const told = async (): Promise<ToldSource> => {
    const answer = await fetch(`${address}/api/v1/sources`)
    const { sources } = (await answer.json()) as { sources: ToldSource[] }
    return sources.find(({ name }) => name === SOURCE) as ToldSource
  }
  const scrape = async (start: string) => {
    // Compression costs as much as everything else.
    const answer = await fetch(`${address}/metrics`, { headers: { 'accept-encoding': 'identity' } })
    const text = await answer.text()
    return text.split('\n').filter((line) => line.startsWith(start))
  }
  /** The count of each device that has a series. */
  const counts = async () => {
    const lines = await scrape('doca_adp_retx_packets{')
    return new Map(lines.map((line) => [/device="([^"]+)"/.exec(line)?.[1] ?? '', Number(line.split(' ').at(-1))]))
  }
  /** Waits until these devices were read anew, and no other has a series. */
  const read = async (...names: string[]) => {
    const before = await counts()
    await until(`${names} are read`, LIMIT_MS, async () => {
      const now = await counts()
      return now.size === names.length && names.every((name) => (now.get(name) ?? 0) !== (before.get(name) ?? 0))
    })
  }
  /** Has devices listed more often by all sources, in this life of the child and the following ones. */
  const hurry = async () => {
    await until('it lists devices', LIMIT_MS, async () => {
      if ((await told()).state === 'starting') return false
      try {
        for (const { name } of definitions)
          await agent.sources
            .find((source) => source.name === name)
            ?.setPeriod({ device: '', duty: 'list', everyUs: LIST_EVERY_US })
        return true
      } catch (error) {
        // A child that is slow to start is replaced: it says to ask again.
        if (error instanceof SondeError && error.code === 'AGT_CHILD_EXIT') return false
        throw error
      }
    })
  }
  const child = () => Number(agent.hosts.children().find(({ host }) => host.includes('doca'))?.pid)
  return { double, agent, address, told, scrape, counts, read, hurry, child }
}
