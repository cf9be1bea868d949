import type { Labels } from '@sonde/sdk'
import { countOf, type LatestSeries, labelOf, sondeCommand } from '@sonde/sdk/internal'
import { isSimulatedSeries } from '../devices/world.ts'
import { SHORTAGE_FIX } from '../processor/shortage.ts'
import { broken, type ChainDevice, type Finding, fine, type Step } from '../sources/chains/chain.ts'
import { type ChainContext, ReadRefusal } from '../sources/chains/chain-context.ts'
import { bindCommand, pciBusFolder } from '../sources/chains/steps.ts'
import type { DataSourceConfig } from '../sources/data-sources.ts'
import { deviceFilter } from '../sources/device-filter.ts'
import type { AgentFacts, DeviceFacts, SourceFacts, TypeFacts } from './agent-facts.ts'
import { ago } from './ago.ts'
import { missingSeries, type Reporting } from './missing-series.ts'
import { type Selector, selects } from './selector.ts'
import { targetFinding } from './target-words.ts'

// Links about Sonde itself: its configuration, the running agent, and the values in the agent.

/** Most reasons of absent values in one answer. */
const REASONS_LIMIT = 3
/** Most calls that have not returned in one answer. */
const STUCK_LIMIT = 3

/** Whether the source is configured and reads that device. */
export function configurationStep(
  source: string,
  config: DataSourceConfig | undefined,
  device?: ChainDevice,
  running?: SourceFacts,
): Step {
  return {
    name: 'configuration',
    async check() {
      const tried = `data_sources: ${source}`
      if (config === undefined && running !== undefined)
        return fine(tried, 'not in this configuration; the agent runs it')
      if (config === undefined)
        return broken(
          tried,
          'left out, or enabled: false',
          `add "- type: ${source}" to data_sources, or remove enabled: false`,
        )
      const patterns = 'devices' in config.options ? (config.options.devices as unknown) : undefined
      // The configuration names ports by their device: `mlx5_0` for `mlx5_0/1`.
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

/**
 * A metric that only the simulator has, while the simulator does not run. Configuring the simulator would not fix the
 * real metric.
 */
export function simulatedOnlyStep({ metric }: Selector): Step {
  const what = /^(DCGM|nvml)_/.test(metric) ? 'GPUs' : 'this'
  return {
    name: 'configuration',
    check: async () =>
      broken(
        metric,
        `no source reads ${what} yet; only the simulator has this metric`,
        `wait for such a source; ${sondeCommand()} up --simulate shows it with simulated values`,
      ),
  }
}

const ABSENT_FIX = 'leave it where there is none; else plug in, load, start or allow what the reason names'

const FIXES: Readonly<Record<string, string>> = {
  starved: SHORTAGE_FIX,
  stuck: 'look in dmesg for the driver that does not answer; Sonde retries by itself',
  failed: 'check the file or call in the reason; Sonde retries by itself',
  denied: 'grant the permission in the reason; Sonde retries within 10 s',
  absent: `${ABSENT_FIX}; Sonde retries every 10 s`,
}

/** Calls that have not returned: those of a device and of the source as a whole; without `device`, all of them. */
export function stuckIn({ stuck = [] }: SourceFacts, device?: ChainDevice): NonNullable<SourceFacts['stuck']> {
  if (device === undefined) return stuck
  const names = [device.name, ...device.aliases]
  return stuck.filter((call) => call.device === '' || names.some((name) => hasName(name, [call.device])))
}

function stuckWords({ device, duty, sinceMs }: NonNullable<SourceFacts['stuck']>[number]): string {
  return `${[device, duty].filter(Boolean).join(' ')}, called ${ago(sinceMs)}`
}

/** State of the source in the agent, and of the device if one is given. */
export function agentStep(facts: SourceFacts | undefined, place: string, device?: ChainDevice): Step {
  return {
    name: 'agent',
    async check(): Promise<Finding> {
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
      // Some files may fail while others are read.
      const failed =
        errors === 0 ? '' : `; ${countOf(errors, 'read')} failed since the start: see /sources/${name} there`
      const last = lastSampleMs === null ? 'no sample yet' : `last sample ${ago(lastSampleMs)}`
      return fine(place, `reading, ${last}${failed}`)
    },
  }
}

/** Result of the single sample that is taken if no agent runs the source. */
export function trialStep(facts: SourceFacts | undefined): Step {
  const tried = 'one sample, in a child process'
  return {
    name: 'value',
    async check() {
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
  failed: 'check the file or call in the reason; a running agent retries at every sample',
  denied: 'grant the permission in the reason',
  absent: ABSENT_FIX,
} as const

/** A device that an agent has seen and the kernel does not list. Reports when it left and how to bring it back. */
export function leftStep(
  context: ChainContext,
  source: string,
  { name, address, goneMs, goneReason }: DeviceFacts,
): Step {
  return {
    name: 'file',
    async check() {
      const why = goneReason === undefined || goneReason === '' ? '' : `: ${goneReason}`
      const when = goneMs === undefined ? 'it was there a moment ago' : `it left ${ago(goneMs)}${why}`
      const answer = `${address === name || address === '' ? name : `${name} (${address})`}: ${when}`
      return broken(`devices of ${source}`, answer, await returning(context, address))
    },
  }
}

/** The command that brings a device back. If the device is still on the bus, only its driver left. */
async function returning(context: ChainContext, address: string): Promise<string> {
  if (address === '') return 'load its driver again, or plug it in; dmesg shows why it left'
  const folder = `${pciBusFolder(context)}/${address}`
  const isOnBus = !((await context.list(folder)) instanceof ReadRefusal)
  const isBound = !((await context.target(`${folder}/driver`)) instanceof ReadRefusal)
  if (!isOnBus)
    return `echo 1 | sudo tee ${context.sysfs}/bus/pci/rescan; dmesg shows why it left, also if it stays away`
  const bind = isBound ? undefined : await bindCommand(context, address)
  return (
    bind ?? `${sondeCommand()} explain ${address}; it shows the state of the driver; dmesg shows why the device left`
  )
}

/** An entity that an application reports. */
export function reportedStep({ kind, name, type, source, goneMs, goneReason = '' }: DeviceFacts, place: string): Step {
  const tried = `applications that report to ${place}`
  return {
    name: 'agent',
    check: async () =>
      goneMs === undefined
        ? fine(tried, `${source} reports ${kind} ${name} as ${type}`)
        : broken(tried, `it left ${ago(goneMs)}: ${goneReason}`, `find out why ${source} no longer reports it`),
  }
}

/** A device that a label names and the kernel does not list. */
export function unlistedStep(source: string, device: string): Step {
  return {
    name: 'file',
    check: async () =>
      broken(
        `devices of ${source}`,
        `none is called ${device}`,
        `${sondeCommand()} explain ${source}; it lists the devices`,
      ),
  }
}

/** The newest values of a metric, or of the selected series, as far as the source reports them. */
export function valueStep(
  selector: Selector,
  reporting: Reporting,
  isOfSource: (labels: Labels) => boolean = () => true,
): Step {
  const { metric, labels } = selector
  return {
    name: 'value',
    async check() {
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
      return broken(metric, `absent: ${absent.absent}`, 'fix the cause in the reason; not every device has every value')
    },
  }
}

/** A metric that only `/metrics` has: the agent keeps none of its values. */
export function exportedStep({ metric }: Selector): Step {
  const answer = 'only /metrics and destinations have it, if the source has the option export'
  return { name: 'value', check: async () => ({ state: 'unknown', tried: metric, answer }) }
}

/**
 * The values of a device in the agent, and the absent values. A device that the kernel lists is found by name, others
 * by id.
 */
export function heldStep(facts: AgentFacts, types: readonly TypeFacts[], device: string): Step {
  return {
    name: 'value',
    async check() {
      const known = (await facts.devices()).find(({ id }) => id === device)
      const isOf = known === undefined ? isNamed(device) : isAbout(known)
      const found = types.map(async (type) => {
        const series = type.entity === undefined ? [] : await facts.series({ type: type.name })
        return series.filter(({ labels }) => isOf(type, labels))
      })
      const own = (await Promise.all(found)).flat()
      const absent = own.filter(({ value }) => value === null)
      if (own.length === 0) return { state: 'unknown', tried: device, answer: 'the agent has no value for this device' }
      const newestMs = Math.max(...own.map(({ timeMs }) => timeMs))
      const isHeld = absent.length < own.length
      const held = `${own.length - absent.length} of ${countOf(own.length, 'value')}, newest ${ago(newestMs)}`
      const told = absent.length === 0 ? held : `${held}; absent: ${absenceReasons(absent)}`
      return isHeld
        ? fine(device, told)
        : broken(device, told, 'fix the causes in the reasons; not every device has every value')
    },
  }
}

/** Whether a series describes the entity with this name. The name is the key of the entity, as in `mlx5_0/1`. */
function isNamed(name: string) {
  return ({ entity }: TypeFacts, labels: Labels): boolean =>
    hasName(name, entity?.key.map((label) => labelOf(labels, label)) ?? []) && !isSimulatedSeries(labels)
}

/** Whether the parts of a name equal the parts of a key. Only the parts that both have are compared. */
export function hasName(name: string, key: readonly (string | undefined)[]): boolean {
  const parts = name.split('/')
  return key.length > 0 && key.every((part, i) => part === undefined || i >= parts.length || part === parts[i])
}

/** Whether a series describes a device or a part of it. */
function isAbout({ kind, labels: own, series, simulated }: DeviceFacts) {
  return ({ entity }: TypeFacts, labels: Labels): boolean => {
    const wanted = entity?.kind === kind ? own : series[entity?.kind ?? '']
    if (wanted === undefined || isSimulatedSeries(labels) !== simulated) return false
    return entity?.key.every((name) => labelOf(labels, name) === labelOf(wanted, name)) === true
  }
}

function absenceReasons(absent: readonly LatestSeries[]): string {
  const reasons = [...new Set(absent.map(({ metric, absent: reason }) => `${metric}: ${reason}`))]
  const more = reasons.length - REASONS_LIMIT
  return `${reasons.slice(0, REASONS_LIMIT).join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

function seriesWords(series: readonly LatestSeries[]): string {
  const absent = series.filter(({ value }) => value === null).length
  return absent === 0 ? `${series.length} series` : `${series.length} series, ${absent} of them absent`
}

/** The edges of histograms. They differ if devices report different bins. */
function edgeWords(series: readonly LatestSeries[]): string {
  const said = new Set(series.flatMap(({ edges }) => (edges === undefined ? [] : [edges.join(', ')])))
  return said.size === 0 ? '' : `; edges of the bins: ${[...said].join('; or ')}`
}
