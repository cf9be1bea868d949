import type { Labels } from '@sonde/sdk'
import type { ExplainLink, ExplainWalk } from '@sonde/sdk/api'
import { turn } from '@sonde/sdk/internal'
import { isSimulatedSeries } from '../devices/world.ts'
import {
  type ChainDevice,
  type DeviceChain,
  type ExplainedValue,
  firstBroken,
  joinChains,
  type Step,
  walk,
} from '../sources/chains/chain.ts'
import type { ChainContext } from '../sources/chains/chain-context.ts'
import type { SourceDefinition } from '../sources/source.ts'
import type { AgentFacts, DeviceFacts, SourceFacts } from './agent-facts.ts'
import {
  agentStep,
  configurationStep,
  exportedStep,
  heldStep,
  leftStep,
  simulatedOnlyStep,
  stuckIn,
  trialStep,
  unlistedStep,
  valueStep,
} from './agent-steps.ts'
import type { ExplainOptions } from './explanation.ts'
import { originSteps } from './origin-steps.ts'
import type { Selector } from './selector.ts'
import { SIMULATOR, type SourceSubject, subjectName } from './subject.ts'

/** The links of a source keep their own order and stand between these. */
const RANKS: Readonly<Record<string, number>> = { configuration: 0, agent: 2, origin: 3, value: 4 }
/** Most devices that are walked when a source as a whole is explained. The first devices represent the rest. */
const DEVICES_LIMIT = 64

/** Parts of a chain beside its devices. */
export interface ChainRequest {
  /** The device that the caller named, whether it is listed or not. */
  readonly device?: string | undefined
  /** A device that an agent knows and that is not listed. */
  readonly left?: DeviceFacts | undefined
  /** The series whose values are shown. Default: the series of the device. */
  readonly value?: (ExplainedValue & { readonly selector: Selector }) | undefined
}

/** Walks the chain of one source over the given devices. */
export async function sourceChain(
  of: string,
  subject: SourceSubject,
  devices: readonly ChainDevice[],
  options: ExplainOptions,
  { device: wanted, left, value }: ChainRequest = {},
): Promise<ExplainWalk> {
  const { definition, config } = subject
  const { facts, context } = options
  const source = subjectName(subject)
  const [only] = devices.length === 1 ? devices : []
  const state = await facts?.source(source)
  const agent = agentStep(state, options.agentPlace, only)
  const own = definition.explain?.steps(context) ?? []
  // A device whose call hangs is not read, because the read could hang too.
  const isStuck =
    state?.state === 'stuck' || (state !== undefined && only !== undefined && stuckIn(state, only).length > 0)
  const isLeftOut = config === undefined && state === undefined
  const configured =
    isLeftOut && definition.name === SIMULATOR && value !== undefined
      ? simulatedOnlyStep(value.selector)
      : configurationStep(source, config, only, state)
  const head: Step[] = [configured, ...(isStuck ? [agent] : []), ...own]
  if (left !== undefined) head.push(leftStep(context, source, left))
  else if (devices.length === 0 && wanted !== undefined && own.length > 0) head.push(unlistedStep(source, wanted))
  const links = await walk(head)
  // A broken link at the head explains every fault of a device.
  const isBroken = firstBroken(links) !== undefined
  if (!isBroken) links.push(...(await linksOfDevices(devices, definition, context, value)))
  const tail: Step[] = isStuck ? [] : [agent]
  const isWhole = firstBroken(links) === undefined
  if (facts !== undefined) tail.push(...valueSteps({ facts, definition, state }, only, value))
  else if (isWhole) tail.push(...(await trialSteps(subject, options, only, value)))
  const rest = isWhole ? await walk(tail) : tail.map(notReached)
  return { of, source, device: only?.name ?? '', links: mergeNames([...links, ...rest]) }
}

/** Facts of an agent, or of a trial, about a source. */
interface ChainFacts {
  readonly facts: AgentFacts
  readonly definition: SourceDefinition
  readonly state: SourceFacts | undefined
}

/** The values of the given series, or of the device. */
function valueSteps(
  { facts, definition, state: source }: ChainFacts,
  only: ChainDevice | undefined,
  value: ChainRequest['value'],
): Step[] {
  if (value !== undefined) {
    if (definition.exportTypes?.some(({ name }) => name === value.type)) return [exportedStep(value.selector)]
    const types = definition.types.map(({ name }) => name)
    const reporting = { facts, types, type: value.type, source }
    return [...originSteps(value.selector, facts), valueStep(value.selector, reporting, mayReport(definition))]
  }
  return only === undefined ? [] : [heldStep(facts, definition.types, only.name)]
}

/**
 * Which series of a metric a source may have reported. Simulated series come from the simulator and real series from
 * the other sources. A library may be a stand-in for the vendor's library; then its series are simulated.
 */
function mayReport({ host, labels }: SourceDefinition): (series: Labels) => boolean {
  if (labels?.simulated === 'true') return isSimulatedSeries
  return host === 'agent' || host === 'worker' ? (series) => !isSimulatedSeries(series) : () => true
}

/** Takes one sample, because the files of a source cannot show everything. */
async function trialSteps(
  { definition, config }: SourceSubject,
  { trial }: ExplainOptions,
  only: ChainDevice | undefined,
  value: ChainRequest['value'],
): Promise<Step[]> {
  if (definition.host === 'agent' || config === undefined || trial === undefined) return []
  const facts = await trial(config)
  const state = await facts.source(config.name)
  const steps = state?.state === 'reading' ? valueSteps({ facts, definition, state }, only, value) : []
  return steps.length > 0 ? steps : [trialStep(state)]
}

async function linksOfDevices(
  devices: readonly ChainDevice[],
  { explain: own }: SourceDefinition,
  context: ChainContext,
  value: ExplainedValue | undefined,
): Promise<ExplainLink[]> {
  const chains: DeviceChain[] = []
  for (const { name } of devices.slice(0, DEVICES_LIMIT)) {
    const steps = own?.deviceSteps(context, name, value) ?? []
    if (steps.length > 0) chains.push({ device: name, links: await walk(steps) })
    if (turn.isOver()) await turn.next()
  }
  return joinChains(chains)
}

function notReached({ name }: Step): ExplainLink {
  return { name, state: 'unknown', tried: '', answer: 'not reached' }
}

/**
 * A source and its device may have links with the same name. The device's link has more detail, so it replaces the
 * source's link, unless the source's link is broken.
 */
function mergeNames(links: readonly ExplainLink[]): ExplainLink[] {
  const byName = new Map<string, ExplainLink>()
  for (const link of links) {
    if (byName.get(link.name)?.state === 'broken') continue
    // The device's links define the order.
    byName.delete(link.name)
    byName.set(link.name, link)
  }
  const merged = [...byName.values()].map(({ isFault: _, ...link }) => link)
  return merged.sort((a, b) => (RANKS[a.name] ?? 1) - (RANKS[b.name] ?? 1))
}
