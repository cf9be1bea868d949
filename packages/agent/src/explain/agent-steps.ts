import type { Labels } from '@sonde/sdk'
import type { DataSourceConfig } from '../config.ts'
import { isSimulatedOf } from '../devices/world.ts'
import type { LatestSeries } from '../http/latest.ts'
import { deviceFilter } from '../sources/device-filter.ts'
import type { SourceDefinition } from '../sources/source.ts'
import type { AgentFacts, SourceFacts } from './agent-facts.ts'
import { broken, type Finding, fine, type Step } from './chain.ts'
import { type Selector, selects } from './selector.ts'

// Links that Sonde itself is: its configuration, the agent that runs, the values that it holds.

/** Reasons that are told of absent values. */
const REASONS_LIMIT = 3

/** Whether the source is configured, and reads that device. */
export function configurationStep(
  source: string,
  config: DataSourceConfig | undefined,
  device?: string,
  running?: SourceFacts,
): Step {
  return {
    name: 'configuration',
    async look() {
      const tried = `data_sources: ${source}`
      if (config === undefined && running !== undefined)
        return fine(tried, 'not in this configuration; the agent runs it')
      if (config === undefined)
        return broken(
          tried,
          'left out, or enabled: false',
          `add "- type: ${source}" to data_sources, or take enabled: false away`,
        )
      const patterns = 'devices' in config.options ? (config.options.devices as unknown) : undefined
      // Ports are called by their device: mlx5_0/1.
      const name = device?.split('/')[0] ?? ''
      if (name !== '' && Array.isArray(patterns) && !deviceFilter(patterns as string[])(name)) {
        const mends = `change the option devices of ${source} so that ${name} matches`
        return broken(`${tried}, devices: ${JSON.stringify(patterns)}`, `${name} is left out`, mends)
      }
      return fine(tried, `every ${config.intervalMs} ms`)
    },
  }
}

const MENDS: Readonly<Record<string, string>> = {
  stuck: 'a driver does not answer: look at dmesg; the source is tried again by itself',
  failed: 'the reason names file or call; the source is tried again by itself',
  denied: 'permit what the reason names; it is tried again within 10 s',
  absent: 'it is looked for again every 10 s; sonde check looks at once',
}

/** How the source fares in the agent. */
export function agentStep(facts: SourceFacts | undefined, place: string): Step {
  return {
    name: 'agent',
    async look(): Promise<Finding> {
      if (facts === undefined)
        return { state: 'unknown', tried: place, answer: 'no agent that answers runs this source' }
      const { state, reason, lastSampleMs } = facts
      const mends = MENDS[state]
      if (mends !== undefined) return broken(place, `${state}: ${reason}`, mends)
      if (state !== 'reading') return { state: 'unknown', tried: place, answer: state }
      return fine(place, `reading, last sample ${ago(lastSampleMs)}`)
    },
  }
}

/** A device that was asked for by a label, and that the kernel does not list. */
export function unlistedStep(source: string, device: string): Step {
  return {
    name: 'file',
    look: async () =>
      broken(`devices of ${source}`, `none is called ${device}`, `sonde explain ${source} tells of all`),
  }
}

/** The newest values of a metric, or of the series that are chosen. */
export function valueStep(facts: AgentFacts, { metric, labels }: Selector): Step {
  return {
    name: 'value',
    async look() {
      const series = (await facts.series({ metric })).filter((each) => selects(labels, each.labels))
      const [live] = series.filter(({ value }) => value !== null)
      if (live !== undefined) return fine(metric, `${countOf(series)}, newest ${live.value} ${ago(live.timeMs)}`)
      const [absent] = series
      if (absent === undefined)
        return broken(metric, 'no series', 'no device reports it: sonde explain SOURCE says why')
      return broken(
        metric,
        `absent: ${absent.absent}`,
        'what the reason names; a value that cannot be had stays absent',
      )
    },
  }
}

/** What the agent holds of a device, and what is absent. */
export function heldStep(facts: AgentFacts, { types }: SourceDefinition, device: string): Step {
  const isOf = matcherOf(device)
  return {
    name: 'value',
    async look() {
      const series = (await Promise.all(types.map(({ name: type }) => facts.series({ type })))).flat()
      const own = series.filter(({ labels }) => isOf(labels))
      const absent = own.filter(({ value }) => value === null)
      if (own.length === 0) return { state: 'unknown', tried: device, answer: 'the agent holds no value of it' }
      const newestMs = Math.max(...own.map(({ timeMs }) => timeMs))
      const answer = `${own.length - absent.length} values ${ago(newestMs)}, ${absent.length} absent`
      return fine(device, absent.length === 0 ? answer : `${answer}: ${reasonsOf(absent)}`)
    },
  }
}

/** Whether labels are those of a device. Simulated ones are asked for by their id, real ones by their name: `mlx5_0/1` is a port of `mlx5_0`. */
function matcherOf(device: string): (labels: Labels) => boolean {
  const simulated = /^sim-(gpu|nic|net|pci)-(.+?)(?:-\d+)?$/.exec(device)
  const name = simulated?.[2] ?? device.split('/')[0]
  const label = simulated?.[1] === 'gpu' ? 'gpu' : 'device'
  return (labels) => labels[label] === name && isSimulatedOf(labels) === (simulated !== null)
}

function reasonsOf(absent: readonly LatestSeries[]): string {
  const reasons = [...new Set(absent.map(({ metric, absent: reason }) => `${metric}: ${reason}`))]
  const more = reasons.length - REASONS_LIMIT
  return `${reasons.slice(0, REASONS_LIMIT).join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

function countOf(series: readonly LatestSeries[]): string {
  const absent = series.filter(({ value }) => value === null).length
  return absent === 0 ? `${series.length} series` : `${series.length} series, ${absent} of them absent`
}

function ago(timeMs: number): string {
  if (timeMs === 0) return 'none yet'
  const seconds = Math.max(0, Date.now() - timeMs) / 1000
  return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s ago`
}
