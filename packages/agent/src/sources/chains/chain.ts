import type { Labels } from '@sonde/sdk'
import type { ExplainLink } from '@sonde/sdk/api'
import type { ChainContext } from './chain-context.ts'

/** What a look at one link found. */
export type Finding = Omit<ExplainLink, 'name'>

/** One link of a chain, to be walked. */
export interface Step {
  readonly name: string
  check(): Promise<Finding>
}

/** A value whose chain is walked: field of a type, in a record, and the labels of the series that are asked for. */
export interface ExplainedValue {
  readonly type: string
  readonly field: string
  readonly labels: Labels
}

/** A device that a source reads, under its own name and the others that people know it by. */
export interface ChainDevice {
  readonly name: string
  readonly aliases: readonly string[]
  /** Names that the option `devices` knows it by. Default: the name, up to its slash. */
  readonly configurable?: readonly string[]
  /** Keys by which exporters claim it. Default: none does. */
  readonly claims?: readonly string[]
}

/** What a source knows of the chains behind its values: a plain walk over files, so that it needs no agent. */
export interface SourceExplain {
  /** Links that all its devices hang on, in order. */
  steps(context: ChainContext): readonly Step[]
  /** What it would read: devices, or files where it has none. Nothing is walked that is not among them. */
  devices(context: ChainContext): Promise<readonly ChainDevice[]>
  /** Links of one device, in order; `value` if one value is asked for. */
  deviceSteps(context: ChainContext, device: string, value?: ExplainedValue): readonly Step[]
}

/** Longest answer that is shortened: what is wrong with many devices is not shortened of each. Unit: characters. */
const ANSWER_LIMIT = 400

/** A link that holds. */
export function fine(tried: string, answer: string): Finding {
  return { state: 'ok', tried, answer }
}

/** A link that does not hold. */
export function broken(tried: string, answer: string, fix: string): Finding {
  return { state: 'broken', tried, answer, fix }
}

/** A link that is never broken for a good reason: what it stands for is there and cannot be had. */
export function faulty(tried: string, answer: string, fix: string): Finding {
  return { ...broken(tried, answer, fix), isFault: true }
}

/** Walks links up to the first broken one; those behind it are not reached. */
export async function walk(steps: readonly Step[]): Promise<ExplainLink[]> {
  const links: ExplainLink[] = []
  for (const { name, check } of steps) {
    if (firstBroken(links) === undefined) links.push(shortened({ name, ...(await check()) }))
    else links.push({ name, state: 'unknown', tried: '', answer: 'not reached' })
  }
  return links
}

function shortened(link: ExplainLink): ExplainLink {
  const { answer } = link
  return answer.length > ANSWER_LIMIT ? { ...link, answer: `${answer.slice(0, ANSWER_LIMIT)}…` } : link
}

/** The first link that does not hold. */
export function firstBroken(links: readonly ExplainLink[]): ExplainLink | undefined {
  return links.find(({ state }) => state === 'broken')
}

/** Devices with a broken link that are named at most. */
const NAMED_LIMIT = 3

/** The chain of one device. */
export interface DeviceChain {
  readonly device: string
  readonly links: readonly ExplainLink[]
}

/**
 * The chains of several devices as one: a link holds when it does for one of them, as the source then has something to
 * read; what is wrong with others is said beside it. A fault of one is one of all: a port may be down, but nobody wants
 * a file that is denied, or that holds garbage.
 */
export function joinChains(chains: readonly DeviceChain[]): ExplainLink[] {
  const [first] = chains
  if (first === undefined) return []
  if (chains.length === 1) return [...first.links]
  return first.links.map(({ name }, index) => joinLink(name, index, chains))
}

function joinLink(name: string, index: number, chains: readonly DeviceChain[]): ExplainLink {
  const found = chains.flatMap(({ device, links }) => {
    const link = links[index]
    return link === undefined ? [] : [{ device, link }]
  })
  const holding = found.filter(({ link }) => link.state === 'ok')
  const failing = found.filter(({ link }) => link.state === 'broken')
  const faults = failing.filter(({ link }) => link.isFault)
  const [shown] = [faults, holding, failing, found].find(({ length }) => length > 0) ?? []
  if (shown === undefined) return { name, state: 'unknown', tried: '', answer: 'not reached' }
  const { link, device } = shown
  if (link.state === 'unknown') return link
  if (link.state === 'broken')
    return shortened({
      ...link,
      answer: `${devicePrefix(link, device)}${link.answer} (at ${failing.length} of ${found.length}: ${nameList(failing)})`,
    })
  const [fault] = failing
  const others = fault === undefined ? '' : `; ${nameList(failing)}: ${fault.link.answer}`
  const count = holding.length === found.length ? `all ${found.length}` : `${holding.length} of ${found.length}`
  const answer = `${devicePrefix(link, device)}${link.answer} (${count} ok)${others}`
  return shortened({ name, ...fine(link.tried, answer) })
}

/** The device whose link is shown, where the path that was tried does not name it. */
function devicePrefix({ tried }: ExplainLink, device: string): string {
  return tried.includes(device.split('/')[0] ?? device) ? '' : `${device}: `
}

/** Names of the first devices: `mlx5_0, mlx5_1, mlx5_2 and 4 more`. */
function nameList(found: readonly { readonly device: string }[]): string {
  const names = found.slice(0, NAMED_LIMIT).map(({ device }) => device)
  const more = found.length - names.length
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
