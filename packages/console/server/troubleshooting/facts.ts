import type { ExplainWalk, PodsAnswer, Scraper, TroubleshootingHop } from '@sonde/sdk/api'
import { messageOf } from '@sonde/sdk/internal'
import type { Agents } from '../agents/agents.ts'
import type { AnswerOrigin, ReaderStates } from '../apps/origin.ts'
import type { Params } from '../params/params.ts'
import type { Webhooks } from '../webhooks/webhooks.ts'

/** The scrape targets of a Prometheus that have or had GPU series. */
export interface ScrapeTargets {
  readonly up: number
  /** Addresses of the others. */
  readonly down: readonly string[]
}

/** Where the facts come from. */
export interface TroubleshootingOrigin {
  readonly params: Params
  readonly webhooks: Webhooks
  /** What this server knows of GPUs. Default: nothing, and its agents are asked for all hops. */
  readonly gpus?: GpuOrigin
  /** The agents of a console. Default: there are none. */
  readonly agents?: Agents
}

/** What a server knows of GPUs: by its own sources, or by a Prometheus. */
export interface GpuOrigin {
  readonly place: AnswerOrigin
  /** The GPU pods of all apps. */
  readonly pods: () => Promise<PodsAnswer>
  readonly readers: () => ReaderStates | Promise<ReaderStates>
  readonly scrapers: () => readonly Scraper[] | Promise<readonly Scraper[]>
  /** Walks the chain of a source or metric. Default: there is no agent that could. */
  readonly explain?: (of: string) => Promise<readonly ExplainWalk[]>
  /** Address of the Prometheus, without credentials. Default: there is none. */
  readonly backend?: string
  /** Default: there is no Prometheus. */
  readonly targets?: () => Promise<ScrapeTargets>
}

/** A part of a hop: its state, its finding and its advice. */
export type HopFinding = Pick<TroubleshootingHop, 'state' | 'finding' | 'advice'>

/** The first broken link of walks, else their last link. */
export async function walked(explain: GpuOrigin['explain'], of: string): Promise<HopFinding> {
  try {
    const walks = (await explain?.(of)) ?? []
    const links = walks.flatMap((walk) => walk.links)
    const broken = links.find(({ state }) => state === 'broken')
    if (broken !== undefined)
      return {
        state: 'broken',
        finding: sentence(`${broken.name}: ${broken.answer}`),
        advice: adviceOf(broken.fix ?? ''),
      }
    const last = links.findLast(({ state }) => state === 'ok')
    return last === undefined
      ? { state: 'unknown', finding: `Nothing is known of ${of} here.`, advice: '' }
      : { state: 'ok', finding: sentence(last.answer), advice: '' }
  } catch (error) {
    return { state: 'unknown', finding: sentence(messageOf(error)), advice: '' }
  }
}

/** First words of commands, which keep their case. */
const COMMAND = /^(sudo|npx|sonde|kubectl|helm|ip|rdma|ethtool|devlink|mount|echo|nvidia-smi) /

/** A fix as a sentence. */
function adviceOf(fix: string): string {
  return COMMAND.test(fix) ? sentence(`run: ${fix}`) : sentence(fix)
}

/** A text as a sentence; an empty text stays empty. */
export function sentence(text: string): string {
  return text === '' ? '' : `${text[0]?.toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? '' : '.'}`
}
