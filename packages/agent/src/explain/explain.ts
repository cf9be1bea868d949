import { SondeError } from '@sonde/sdk'
import { closest } from '@sonde/sdk/config'
import { turn } from '@sonde/sdk/internal'
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
import type { DataSourceConfig } from '../sources/data-sources.ts'
import type { SourceDefinition } from '../sources/source.ts'
import type { AgentFacts, DeviceFacts } from './agent-facts.ts'
import {
  agentStep,
  configurationStep,
  hasName,
  heldStep,
  leftStep,
  reportedStep,
  simulatedOnlyStep,
  stuckIn,
  trialStep,
  unlistedStep,
  valueStep,
} from './agent-steps.ts'
import { parseSelector, type Selector } from './selector.ts'

/** The walk from configuration to value, for what was asked. */
export interface Explanation {
  /** What was asked for. */
  readonly of: string
  /** Name of the source that reads it. */
  readonly source: string
  /** The device, by the name that the source gives it; empty where the source as a whole is explained. */
  readonly device: string
  readonly links: readonly ChainLink[]
}

/** Options of {@link explain}. */
export interface ExplainOptions {
  readonly ground: Ground
  readonly definitions: readonly SourceDefinition[]
  /** Sources that are configured and not switched off. */
  readonly configured: readonly DataSourceConfig[]
  /** What a running agent knows; absent where none answers. */
  readonly facts?: AgentFacts | undefined
  /** Where an agent was looked for, for people. */
  readonly agentPlace: string
  /**
   * Takes one sample of a source whose drivers only a child process may ask: what its walk ends with where no agent
   * answers. Default: none is taken.
   */
  readonly trial?: (config: DataSourceConfig) => Promise<AgentFacts>
}

/** The links of a source, in its own order, come between these. */
const RANKS: Readonly<Record<string, number>> = { configuration: 0, agent: 2, value: 3 }
/** Devices that are walked at most when a source as a whole is explained; the first of them stand for the rest. */
const DEVICES_LIMIT = 64
/** Names that are offered for one that is unknown. */
const NEAREST_LIMIT = 3
/** The source whose devices no file of the kernel knows. */
const SIMULATOR = 'simulator'

/** A kind of source, and one of the configured sources of that kind, where there is one. */
interface Subject {
  readonly definition: SourceDefinition
  readonly config: DataSourceConfig | undefined
}

/**
 * Walks the chain behind a source, a device (by name, id or address), or a metric; with `''` that of every source.
 * Chains with a broken link come first.
 *
 * @throws SondeError `EXP_UNKNOWN` where nothing has that name, with the nearest ones.
 */
export async function explain(of: string, options: ExplainOptions): Promise<Explanation[]> {
  const subjects = subjectsOf(options)
  const found =
    (await ofSources(of, subjects, options)) ??
    (await ofMetric(of, subjects, options)) ??
    (await ofDevice(of, subjects, options))
  if (found.length === 0) throw await unknownName(of, subjects, options)
  return found.sort((a, b) => Number(isWhole(a)) - Number(isWhole(b)))
}

/** Whether no link is broken. */
export function isWhole({ links }: Explanation): boolean {
  return firstBroken(links) === undefined
}

function subjectsOf({ definitions, configured }: ExplainOptions): Subject[] {
  return definitions.flatMap((definition): Subject[] => {
    const configs = configured.filter((config) => config.definition.name === definition.name)
    return configs.length === 0
      ? [{ definition, config: undefined }]
      : configs.map((config) => ({ definition, config }))
  })
}

function nameOf({ config, definition }: Subject): string {
  return config?.name ?? definition.name
}

async function ofSources(
  of: string,
  subjects: readonly Subject[],
  options: ExplainOptions,
): Promise<Explanation[] | undefined> {
  const wanted = subjects.filter((subject) => {
    const { config, definition } = subject
    // What runs on request alone is not missing where nobody asked for it.
    if (of === '') return config !== undefined || definition.isOnRequest !== true
    return nameOf(subject) === of || definition.name === of
  })
  if (wanted.length === 0) return undefined
  return Promise.all(
    wanted.map(async (subject) => {
      const devices = (await subject.definition.explain?.devices(options.ground)) ?? []
      return chainOf(of === '' ? nameOf(subject) : of, subject, devices, options)
    }),
  )
}

async function ofMetric(
  of: string,
  subjects: readonly Subject[],
  options: ExplainOptions,
): Promise<Explanation[] | undefined> {
  const selector = parseSelector(of)
  if (selector === undefined) return undefined
  const isSimulated = selector.labels.simulated !== undefined
  const reporting = subjects.filter(
    ({ definition }) =>
      placeOf(selector.metric, definition) !== undefined && (!isSimulated || definition.name === SIMULATOR),
  )
  if (reporting.length === 0) return undefined
  const states = await Promise.all(reporting.map((subject) => options.facts?.source(nameOf(subject))))
  const running = reporting.filter(({ config }, index) => config !== undefined || states[index] !== undefined)
  const ofHardware = reporting.filter(({ definition }) => definition.name !== SIMULATOR)
  const wanted = [running, ofHardware, reporting].find((some) => some.length > 0) ?? []
  return Promise.all(
    wanted.map(async (subject) => {
      const listed = (await subject.definition.explain?.devices(options.ground)) ?? []
      const place = placeOf(selector.metric, subject.definition)
      const key = keyIn(selector, place?.type, subject.definition)
      // Files of the host are no devices, and labels do not choose among them.
      const devices = key[0] === undefined ? listed : listed.filter(({ name }) => hasName(name, key))
      const value = place === undefined ? undefined : { ...place, labels: selector.labels, selector }
      const device = devices.length > 0 ? undefined : key[0]
      return chainOf(of, subject, devices, options, { device, left: await leftDevice(device, options), value })
    }),
  )
}

/** A device of that name that left, where an agent has seen it. */
async function leftDevice(name: string | undefined, { facts }: ExplainOptions): Promise<DeviceFacts | undefined> {
  if (name === undefined) return undefined
  const known = await facts?.devices()
  return known?.find((each) => [each.name, each.address].includes(name) && !each.simulated && each.goneMs !== undefined)
}

/** The key of the entity that a selector names, as far as it does. */
function keyIn({ labels }: Selector, type: string | undefined, { types }: SourceDefinition): (string | undefined)[] {
  return types.find(({ name }) => name === type)?.entity?.key.map((label) => labels[label]) ?? []
}

/** The field behind a metric. */
function placeOf(metric: string, { types }: SourceDefinition): Omit<ValuePlace, 'labels'> | undefined {
  for (const { name: type, metrics } of types) {
    for (const [field, name] of metrics) if (name === metric) return { type, field }
  }
  return undefined
}

async function ofDevice(of: string, subjects: readonly Subject[], options: ExplainOptions): Promise<Explanation[]> {
  const listed = await ofListedDevice(of, of, subjects, options)
  if (listed.length > 0) return listed
  const known = await options.facts?.devices()
  const device = known?.find(({ id, name }) => id === of || name === of)
  if (device !== undefined) return ofKnownDevice(of, device, subjects, options)
  // Without an agent nobody can tell which devices are simulated.
  return known === undefined && of.startsWith('sim-') ? ofSimulated(of, of, subjects, options) : []
}

/** Chains of a device that the kernel lists. */
async function ofListedDevice(
  of: string,
  name: string,
  subjects: readonly Subject[],
  options: ExplainOptions,
): Promise<Explanation[]> {
  const chains: Explanation[] = []
  for (const subject of subjects) {
    const devices = (await subject.definition.explain?.devices(options.ground)) ?? []
    const wanted = devices.filter((device) => device.name === name || device.aliases.includes(name))
    if (wanted.length > 0) chains.push(await chainOf(of, subject, wanted, options))
  }
  // A source that is switched off has a say only where no other has.
  const running = chains.filter(({ source }) => options.configured.some(({ name: own }) => own === source))
  return running.length > 0 ? running : chains
}

/** Chains of what only a running agent knows: simulated devices, GPUs by their number, and devices that left. */
async function ofKnownDevice(
  of: string,
  device: DeviceFacts,
  subjects: readonly Subject[],
  options: ExplainOptions,
): Promise<Explanation[]> {
  const { id, kind, name, address, series, simulated } = device
  if (simulated) return ofSimulated(of, id, subjects, options)
  const place = kind === 'gpu' ? address : name
  const listed = await ofListedDevice(of, place, subjects, options)
  if (listed.length > 0) return listed
  // A GPU may be known by the bus alone: then what tells of that tells of it.
  const [telling = []] = [kind, ...Object.keys(series)]
    .map((one) => subjects.filter(({ definition }) => definition.name !== SIMULATOR && isDefining(definition, one)))
    .filter(({ length }) => length > 0)
  if (telling.length === 0) return [await ofReported(of, device, options)]
  return Promise.all(
    telling.map((subject) => {
      const isThere = subject.definition.explain === undefined && device.goneMs === undefined
      return chainOf(
        of,
        subject,
        isThere ? [{ name: id, aliases: [name] }] : [],
        options,
        isThere ? {} : { left: device },
      )
    }),
  )
}

function isDefining({ types }: SourceDefinition, kind: string): boolean {
  return types.some(({ entity }) => entity?.defines === true && entity.kind === kind)
}

/** What no source tells of, an application does. */
async function ofReported(
  of: string,
  device: DeviceFacts,
  { facts, agentPlace }: ExplainOptions,
): Promise<Explanation> {
  const held = facts === undefined ? [] : [heldStep(facts, await facts.types(), device.id)]
  return {
    of,
    source: device.source,
    device: device.name,
    links: await walk([reportedStep(device, agentPlace), ...held]),
  }
}

function ofSimulated(
  of: string,
  id: string,
  subjects: readonly Subject[],
  options: ExplainOptions,
): Promise<Explanation[]> {
  const simulators = subjects.filter(({ definition }) => definition.name === SIMULATOR)
  return Promise.all(simulators.map((subject) => chainOf(of, subject, [{ name: id, aliases: [] }], options)))
}

/** What is asked of a chain beside its devices. */
interface Asked {
  /** A device that was asked for by name, whether it is listed or not. */
  readonly device?: string | undefined
  /** A device that an agent knows, and that is not listed. */
  readonly left?: DeviceFacts | undefined
  /** The series whose values are told; absent: those of the device. */
  readonly value?: (ValuePlace & { readonly selector: Selector }) | undefined
}

async function chainOf(
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
      : configurationStep(source, config, only?.name, state)
  const head: Step[] = [configured, ...(isStuck ? [agent] : []), ...own]
  if (left !== undefined) head.push(leftStep(ground, source, left))
  else if (devices.length === 0 && wanted !== undefined && own.length > 0) head.push(unlistedStep(source, wanted))
  const links = await walk(head)
  // A broken link at the head is behind everything that a device might lack.
  const isBroken = firstBroken(links) !== undefined
  if (!isBroken) links.push(...(await linksOfDevices(devices, definition, ground, value)))
  const tail: Step[] = isStuck ? [] : [agent]
  const isWhole = firstBroken(links) === undefined
  if (facts !== undefined) tail.push(...valueSteps(facts, definition, only, value))
  else if (isWhole) tail.push(...(await trialSteps(subject, options, only, value)))
  const rest = isWhole ? await walk(tail) : tail.map(notReached)
  return { of, source, device: only?.name ?? '', links: mergeNames([...links, ...rest]) }
}

/** What is held of the series that are asked for, or of the device. */
function valueSteps(
  facts: AgentFacts,
  definition: SourceDefinition,
  only: ChainDevice | undefined,
  value: Asked['value'],
): Step[] {
  if (value !== undefined) return [valueStep(facts, value.selector)]
  return only === undefined ? [] : [heldStep(facts, definition.types, only.name)]
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
  const steps = state?.state === 'reading' ? valueSteps(facts, definition, only, value) : []
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

async function unknownName(of: string, subjects: readonly Subject[], options: ExplainOptions): Promise<SondeError> {
  const devices = await Promise.all(subjects.map(({ definition }) => definition.explain?.devices(options.ground) ?? []))
  const names = [
    ...subjects.map(nameOf),
    ...devices.flat().flatMap(({ name, aliases }) => [name, ...aliases]),
    ...((await options.facts?.devices()) ?? []).flatMap(({ id, name }) => [id, name]),
    ...subjects.flatMap(({ definition }) => definition.types.flatMap(({ metrics }) => [...metrics.values()])),
  ]
  const nearest = nearestNames(of, [...new Set(names)])
  const offer =
    nearest.length === 0 ? `sources are ${subjects.map(nameOf).join(', ')}` : `nearest: ${nearest.join(', ')}`
  return new SondeError(
    'EXP_UNKNOWN',
    `no source, device or metric is called ${JSON.stringify(of.slice(0, 100))}; ${offer}`,
  )
}

/** What was meant, perhaps: a slip of the finger, then names that contain it. */
function nearestNames(of: string, names: readonly string[]): string[] {
  const slip = closest(of, names)
  const containing = of.length < 3 ? [] : names.filter((name) => name !== slip && name.includes(of))
  return [...(slip === undefined ? [] : [slip]), ...containing].slice(0, NEAREST_LIMIT)
}
