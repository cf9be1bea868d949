import type { Labels } from '@sonde/sdk'
import type { ExplainLink } from '@sonde/sdk/api'
import type { ChainContext } from './chain-context.ts'

/** Result of the check of one link. */
export type Finding = Omit<ExplainLink, 'name'>

/** A link of a chain, with its check. */
export interface Step {
  readonly name: string
  check(): Promise<Finding>
}

/** The value whose chain is walked: its type, its field, and the labels of the wanted series. */
export interface ExplainedValue {
  readonly type: string
  readonly field: string
  readonly labels: Labels
}

/** A device that a source reads, with its name and other names that people use. */
export interface ChainDevice {
  readonly name: string
  readonly aliases: readonly string[]
  /** Names by which the option `devices` selects it. Default: the name up to its slash. */
  readonly configurable?: readonly string[]
  /** Keys by which exporters claim it. Default: none. */
  readonly claims?: readonly string[]
}

/** The chains behind the values of a source. They only read files, so they need no agent. */
export interface SourceExplain {
  /** Links that all devices share, in order. */
  steps(context: ChainContext): readonly Step[]
  /** Devices that the source would read, or files if it has no devices. Only these can be explained. */
  devices(context: ChainContext): Promise<readonly ChainDevice[]>
  /** Links of one device, in order; `value` if a single value is explained. */
  deviceSteps(context: ChainContext, device: string, value?: ExplainedValue): readonly Step[]
}

/** Longer answers are cut, such as a fault of many devices. Unit: characters. */
const ANSWER_LIMIT = 400

/** Returns the finding of a link that holds. */
export function fine(tried: string, answer: string): Finding {
  return { state: 'ok', tried, answer }
}

/** Returns the finding of a link that does not hold. */
export function broken(tried: string, answer: string, fix: string): Finding {
  return { state: 'broken', tried, answer, fix }
}

/** Returns the finding of a broken link that is always a fault: the file or device exists, but cannot be used. */
export function faulty(tried: string, answer: string, fix: string): Finding {
  return { ...broken(tried, answer, fix), isFault: true }
}

/** Checks links up to the first broken link. The links behind it are not reached. */
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

/** Returns the first broken link. */
export function firstBroken(links: readonly ExplainLink[]): ExplainLink | undefined {
  return links.find(({ state }) => state === 'broken')
}

/** At most so many devices with a broken link are named. */
const NAMED_LIMIT = 3

/** The chain of one device. */
export interface DeviceChain {
  readonly device: string
  readonly links: readonly ExplainLink[]
}

/**
 * Joins the chains of several devices. A link holds if it holds for one device, because the source can then read
 * something. Faults of other devices are named beside it. A broken link that is always a fault breaks the joined link:
 * a port may be down, but a file that is denied or holds garbage is always wrong.
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

/** Returns the name of the shown device as a prefix, unless the path contains it. */
function devicePrefix({ tried }: ExplainLink, device: string): string {
  return tried.includes(device.split('/')[0] ?? device) ? '' : `${device}: `
}

/** Lists the first devices: `mlx5_0, mlx5_1, mlx5_2 and 4 more`. */
function nameList(found: readonly { readonly device: string }[]): string {
  const names = found.slice(0, NAMED_LIMIT).map(({ device }) => device)
  const more = found.length - names.length
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
