import type { LatestSeries } from '@sonde/sdk'
import { type Labels, labelOf } from '@sonde/sdk'
import { countOf, sondeCommand } from '@sonde/sdk/internal'
import { isSimulatedOf } from '../devices/world.ts'
import { SHORTAGE_FIX } from '../processor/shortage.ts'
import { broken, type ChainDevice, type Finding, fine, type Step } from '../sources/chains/chain.ts'
import { type Ground, Refusal } from '../sources/chains/ground.ts'
import { bindCommand, busOf } from '../sources/chains/steps.ts'
import type { DataSourceConfig } from '../sources/data-sources.ts'
import { deviceFilter } from '../sources/device-filter.ts'
import type { AgentFacts, DeviceFacts, SourceFacts, ToldType } from './agent-facts.ts'
import { ago } from './ago.ts'
import { missingSeries, type Reporting } from './missing-series.ts'
import { type Selector, selects } from './selector.ts'
import { targetFinding } from './target-words.ts'

// Links that Sonde itself is: its configuration, the agent that runs, the values that it holds.

/** Reasons that are told of absent values. */
const REASONS_LIMIT = 3
/** Calls that are told of those that do not come back. */
const STUCK_LIMIT = 3

/** Whether the source is configured, and reads that device. */
export function configurationStep(
  source: string,
  config: DataSourceConfig | undefined,
  device?: ChainDevice,
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
      const name = device?.name.split('/')[0] ?? ''
      const names = device?.configurable ?? [name]
      if (name !== '' && Array.isArray(patterns) && !names.some(deviceFilter(patterns as string[]))) {
        const fix = `change the option devices of ${source} so that ${name} matches`
        return broken(`${tried}, devices: ${JSON.stringify(patterns)}`, `${name} is left out`, fix)
      }
      return fine(tried, `every ${config.intervalMs} ms`)
    },
  }
}

/** A metric that the simulator alone has, where it does not run: to configure it would fix nothing. */
export function simulatedOnlyStep({ metric }: Selector): Step {
  const what = /^(DCGM|nvml)_/.test(metric) ? 'GPUs' : 'this'
  return {
    name: 'configuration',
    look: async () =>
      broken(
        metric,
        `no source reads ${what} yet; only the simulator has this metric`,
        `wait for a source that does; ${sondeCommand()} up --simulate shows it with simulated values`,
      ),
  }
}

const FIXES: Readonly<Record<string, string>> = {
  starved: SHORTAGE_FIX,
  stuck: 'look in dmesg for the driver that does not answer; Sonde tries again by itself',
  failed: 'look at the file or call that the reason names; Sonde tries again by itself',
  denied: 'permit what the reason names; Sonde tries again within 10 s',
  absent: 'plug in, load or allow what the reason names; Sonde looks again every 10 s',
}

/** Calls that do not come back: those of a device, and of the whole source; without a device all of them. */
export function stuckIn({ stuck = [] }: SourceFacts, device?: ChainDevice): NonNullable<SourceFacts['stuck']> {
  if (device === undefined) return stuck
  const names = [device.name, ...device.aliases]
  return stuck.filter((call) => call.device === '' || names.some((name) => hasName(name, [call.device])))
}

function stuckWords({ device, duty, sinceMs }: NonNullable<SourceFacts['stuck']>[number]): string {
  return `${[device, duty].filter(Boolean).join(' ')}, called ${ago(sinceMs)}`
}

/** How the source fares in the agent, and the device that is asked for. */
export function agentStep(facts: SourceFacts | undefined, place: string, device?: ChainDevice): Step {
  return {
    name: 'agent',
    async look(): Promise<Finding> {
      if (facts === undefined)
        return { state: 'unknown', tried: place, answer: 'no agent answers there, or it does not run this source' }
      const { name, state, reason, lastSampleMs, errors = 0 } = facts
      const [first, ...others] = stuckIn(facts, device)
      if (first !== undefined) {
        const calls = [first, ...others].slice(0, STUCK_LIMIT).map(stuckWords).join('; ')
        const more = others.length + 1 - STUCK_LIMIT
        const told = state === 'reading' ? 'reading, but stuck' : `${state}: ${reason}`
        return broken(place, `${told}: ${calls}${more > 0 ? `; and ${more} more` : ''}`, first.fix)
      }
      const fix = FIXES[state]
      if (fix !== undefined) return broken(place, `${state}: ${reason}`, fix)
      if (state !== 'reading') return { state: 'unknown', tried: place, answer: state }
      const ofTargets = targetFinding(facts, place, device)
      if (ofTargets !== undefined) return ofTargets
      // One of several files may fail while the others are read.
      const failed =
        errors === 0 ? '' : `; ${countOf(errors, 'read')} failed since the start: see /sources/${name} there`
      return fine(place, `reading, last sample ${ago(lastSampleMs)}${failed}`)
    },
  }
}

/** How the one sample of a source went that is taken where no agent runs it, by what it left. */
export function trialStep(facts: SourceFacts | undefined): Step {
  const tried = 'one sample, in a child process'
  return {
    name: 'value',
    async look() {
      if (facts === undefined || facts.state === 'starting')
        return broken(tried, 'no answer within 5 s', 'look in dmesg for the driver that does not answer')
      const { state, reason } = facts
      if (state === 'reading') return fine(tried, 'it gave values')
      return broken(tried, `${state}: ${reason}`, TRIAL_FIXES[state])
    },
  }
}

const TRIAL_FIXES = {
  starved: SHORTAGE_FIX,
  stuck: 'look in dmesg for the driver that does not answer',
  failed: 'look at what the reason names; a running agent tries again at every sample',
  denied: 'permit what the reason names',
  absent: 'plug in, load or allow what the reason names',
} as const

/** A device that an agent has seen, and that the kernel does not list: whether it left, and how it comes back. */
export function leftStep(ground: Ground, source: string, { name, address, goneMs, goneReason }: DeviceFacts): Step {
  return {
    name: 'file',
    async look() {
      const why = goneReason === undefined || goneReason === '' ? '' : `: ${goneReason}`
      const when = goneMs === undefined ? 'it was there a moment ago' : `it left ${ago(goneMs)}${why}`
      const answer = `${address === name || address === '' ? name : `${name} (${address})`}: ${when}`
      return broken(`devices of ${source}`, answer, await returning(ground, address))
    },
  }
}

/** How a device that left comes back: of one that is still on the bus the driver left. */
async function returning(ground: Ground, address: string): Promise<string> {
  if (address === '') return 'load its driver again, or plug it in; dmesg says why it left'
  const folder = `${busOf(ground)}/${address}`
  const isOnBus = !((await ground.list(folder)) instanceof Refusal)
  const isBound = !((await ground.target(`${folder}/driver`)) instanceof Refusal)
  if (!isOnBus) return `echo 1 | sudo tee ${ground.sysfs}/bus/pci/rescan; dmesg says why it left, and if it stays away`
  const bind = isBound ? undefined : await bindCommand(ground, address)
  return bind ?? `${sondeCommand()} explain ${address}; it tells about the driver, dmesg why the device left`
}

/** An entity that an application tells of. */
export function reportedStep({ kind, name, type, source, goneMs, goneReason = '' }: DeviceFacts, place: string): Step {
  const tried = `applications that report to ${place}`
  return {
    name: 'agent',
    look: async () =>
      goneMs === undefined
        ? fine(tried, `${source} reports ${kind} ${name} as ${type}`)
        : broken(tried, `it left ${ago(goneMs)}: ${goneReason}`, `look why ${source} no longer reports it`),
  }
}

/** A device that was asked for by a label, and that the kernel does not list. */
export function unlistedStep(source: string, device: string): Step {
  return {
    name: 'file',
    look: async () =>
      broken(
        `devices of ${source}`,
        `none is called ${device}`,
        `${sondeCommand()} explain ${source}; it tells which devices there are`,
      ),
  }
}

/** The newest values of a metric, or of the series that are chosen, as far as they are of the source. */
export function valueStep(
  selector: Selector,
  reporting: Reporting,
  isOfSource: (labels: Labels) => boolean = () => true,
): Step {
  const { metric, labels } = selector
  return {
    name: 'value',
    async look() {
      const all = await reporting.facts.series({ metric })
      const ofSource = all.filter((each) => isOfSource(each.labels))
      const series = ofSource.filter((each) => selects(labels, each.labels))
      const [live] = series.filter(({ value }) => value !== null)
      if (live !== undefined) {
        const newest = `newest ${live.value} ${ago(live.timeMs)}`
        return fine(metric, `${seriesWords(series)}, ${newest}${edgeWords(series)}`)
      }
      const [absent] = series
      if (absent === undefined) return missingSeries(selector, all, ofSource, reporting)
      return broken(metric, `absent: ${absent.absent}`, 'do what the reason names; not every device has every value')
    },
  }
}

/**
 * What the agent holds of a device, and what is absent: of one that the kernel lists by its name, of others by their
 * id.
 */
export function heldStep(facts: AgentFacts, types: readonly ToldType[], device: string): Step {
  return {
    name: 'value',
    async look() {
      const known = (await facts.devices()).find(({ id }) => id === device)
      const isOf = known === undefined ? isNamed(device) : isAbout(known)
      const found = types.map(async (type) => {
        const series = type.entity === undefined ? [] : await facts.series({ type: type.name })
        return series.filter(({ labels }) => isOf(type, labels))
      })
      const own = (await Promise.all(found)).flat()
      const absent = own.filter(({ value }) => value === null)
      if (own.length === 0) return { state: 'unknown', tried: device, answer: 'the agent holds no value of it' }
      const newestMs = Math.max(...own.map(({ timeMs }) => timeMs))
      const isHeld = absent.length < own.length
      const held = `${own.length - absent.length} of ${countOf(own.length, 'value')}, newest ${ago(newestMs)}`
      const told = absent.length === 0 ? held : `${held}; absent: ${reasonsOf(absent)}`
      return isHeld
        ? fine(device, told)
        : broken(device, told, 'do what the reasons name; not every device has every value')
    },
  }
}

/** Whether a series is about what a source calls so: the name is the key of the entity, as in `mlx5_0/1`. */
function isNamed(name: string) {
  return ({ entity }: ToldType, labels: Labels): boolean =>
    hasName(name, entity?.key.map((label) => labelOf(labels, label)) ?? []) && !isSimulatedOf(labels)
}

/** Whether a name is that of a key, as far as both go. */
export function hasName(name: string, key: readonly (string | undefined)[]): boolean {
  const parts = name.split('/')
  return key.length > 0 && key.every((part, i) => part === undefined || i >= parts.length || part === parts[i])
}

/** Whether a series is about a device, or about an entity that is part of it. */
function isAbout({ kind, labels: own, series, simulated }: DeviceFacts) {
  return ({ entity }: ToldType, labels: Labels): boolean => {
    const wanted = entity?.kind === kind ? own : series[entity?.kind ?? '']
    if (wanted === undefined || isSimulatedOf(labels) !== simulated) return false
    return entity?.key.every((name) => labelOf(labels, name) === labelOf(wanted, name)) === true
  }
}

function reasonsOf(absent: readonly LatestSeries[]): string {
  const reasons = [...new Set(absent.map(({ metric, absent: reason }) => `${metric}: ${reason}`))]
  const more = reasons.length - REASONS_LIMIT
  return `${reasons.slice(0, REASONS_LIMIT).join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

function seriesWords(series: readonly LatestSeries[]): string {
  const absent = series.filter(({ value }) => value === null).length
  return absent === 0 ? `${series.length} series` : `${series.length} series, ${absent} of them absent`
}

/** The edges of histograms; their bins differ where devices say different ones. */
function edgeWords(series: readonly LatestSeries[]): string {
  const said = new Set(series.flatMap(({ edges }) => (edges === undefined ? [] : [edges.join(', ')])))
  return said.size === 0 ? '' : `; edges of the bins: ${[...said].join('; or ')}`
}
