import type { Labels } from '@sonde/sdk'
import { turn } from '@sonde/sdk/internal'
import { isSimulatedOf } from '../devices/world.ts'
import {
  type ChainDevice,
  type ChainLink,
  type DeviceChain,
  firstBroken,
  joinChains,
  type Step,
  type ValuePlace,
  walk,
} from '../sources/chains/chain.ts'
import type { Ground } from '../sources/chains/ground.ts'
import type { SourceDefinition } from '../sources/source.ts'
import type { AgentFacts, DeviceFacts, SourceFacts } from './agent-facts.ts'
import {
  agentStep,
  configurationStep,
  heldStep,
  leftStep,
  simulatedOnlyStep,
  stuckIn,
  trialStep,
  unlistedStep,
  valueStep,
} from './agent-steps.ts'
import type { ExplainOptions, Explanation } from './explanation.ts'
import type { Selector } from './selector.ts'
import { nameOf, SIMULATOR, type Subject } from './subject.ts'

/** The links of a source, in its own order, come between these. */
const RANKS: Readonly<Record<string, number>> = { configuration: 0, agent: 2, value: 3 }
/** Devices that are walked at most when a source as a whole is explained; the first of them stand for the rest. */
const DEVICES_LIMIT = 64

/** What is asked of a chain beside its devices. */
export interface Asked {
  /** A device that was asked for by name, whether it is listed or not. */
  readonly device?: string | undefined
  /** A device that an agent knows, and that is not listed. */
  readonly left?: DeviceFacts | undefined
  /** The series whose values are told; absent: those of the device. */
  readonly value?: (ValuePlace & { readonly selector: Selector }) | undefined
}

/** Walks the chain of one source over the devices that are asked for. */
export async function chainOf(
  of: string,
  subject: Subject,
  devices: readonly ChainDevice[],
  options: ExplainOptions,
  { device: wanted, left, value }: Asked = {},
): Promise<Explanation> {
  const { definition, config } = subject
  const { facts, ground } = options
  const source = nameOf(subject)
  const [only] = devices.length === 1 ? devices : []
  const state = await facts?.source(source)
  const agent = agentStep(state, options.agentPlace, only)
  const own = definition.explain?.steps(ground) ?? []
  // What hangs is not looked at: that would hang as well.
  const isStuck =
    state?.state === 'stuck' || (state !== undefined && only !== undefined && stuckIn(state, only).length > 0)
  const isLeftOut = config === undefined && state === undefined
  const configured =
    isLeftOut && definition.name === SIMULATOR && value !== undefined
      ? simulatedOnlyStep(value.selector)
      : configurationStep(source, config, only, state)
  const head: Step[] = [configured, ...(isStuck ? [agent] : []), ...own]
  if (left !== undefined) head.push(leftStep(ground, source, left))
  else if (devices.length === 0 && wanted !== undefined && own.length > 0) head.push(unlistedStep(source, wanted))
  const links = await walk(head)
  // A broken link at the head is behind everything that a device might lack.
  const isBroken = firstBroken(links) !== undefined
  if (!isBroken) links.push(...(await linksOfDevices(devices, definition, ground, value)))
  const tail: Step[] = isStuck ? [] : [agent]
  const isWhole = firstBroken(links) === undefined
  if (facts !== undefined) tail.push(...valueSteps({ facts, definition, state }, only, value))
  else if (isWhole) tail.push(...(await trialSteps(subject, options, only, value)))
  const rest = isWhole ? await walk(tail) : tail.map(notReached)
  return { of, source, device: only?.name ?? '', links: mergeNames([...links, ...rest]) }
}

/** What an agent, or a trial, knows of a source. */
interface Known {
  readonly facts: AgentFacts
  readonly definition: SourceDefinition
  readonly state: SourceFacts | undefined
}

/** What is held of the series that are asked for, or of the device. */
function valueSteps(
  { facts, definition, state: source }: Known,
  only: ChainDevice | undefined,
  value: Asked['value'],
): Step[] {
  if (value !== undefined) {
    const types = definition.types.map(({ name }) => name)
    return [valueStep(value.selector, { facts, types, type: value.type, source }, mayReport(definition))]
  }
  return only === undefined ? [] : [heldStep(facts, definition.types, only.name)]
}

/**
 * Which series of a metric may be of a source: simulated ones are not of the kernel, nor real ones of the simulator. A
 * library may stand in for the vendor's, and is simulated then.
 */
function mayReport({ host, labels }: SourceDefinition): (series: Labels) => boolean {
  if (labels?.simulated === 'true') return isSimulatedOf
  return host === 'agent' || host === 'worker' ? (series) => !isSimulatedOf(series) : () => true
}

/** What files do not tell of a source is known once it was sampled. */
async function trialSteps(
  { definition, config }: Subject,
  { trial }: ExplainOptions,
  only: ChainDevice | undefined,
  value: Asked['value'],
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
  ground: Ground,
  value: ValuePlace | undefined,
): Promise<ChainLink[]> {
  const chains: DeviceChain[] = []
  for (const { name } of devices.slice(0, DEVICES_LIMIT)) {
    const steps = own?.deviceSteps(ground, name, value) ?? []
    if (steps.length > 0) chains.push({ device: name, links: await walk(steps) })
    if (turn.isOver()) await turn.next()
  }
  return joinChains(chains)
}

function notReached({ name }: Step): ChainLink {
  return { name, state: 'unknown', tried: '', answer: 'not reached' }
}

/**
 * Source and device may both have a link of a name: what was found at the device says more, unless the source's is the
 * broken one.
 */
function mergeNames(links: readonly ChainLink[]): ChainLink[] {
  const byName = new Map<string, ChainLink>()
  for (const link of links) {
    if (byName.get(link.name)?.state === 'broken') continue
    // The order of the device is the whole one.
    byName.delete(link.name)
    byName.set(link.name, link)
  }
  const merged = [...byName.values()].map(({ isFault: _, ...link }) => link)
  return merged.sort((a, b) => (RANKS[a.name] ?? 1) - (RANKS[b.name] ?? 1))
}
