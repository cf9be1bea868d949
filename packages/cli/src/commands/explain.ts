import {
  type AgentFacts,
  type ChainLink,
  type DeviceFacts,
  type Explanation,
  explain,
  isWhole,
  KernelGround,
  type SourceFacts,
  type ToldType,
  type TracebackFacts,
  trialOf,
} from '@sonde/agent'
import { type DataSourceConfig, SOURCES } from '@sonde/agent/config'
import { type LatestSeries, messageOf, SondeError } from '@sonde/sdk'
import { printable } from '@sonde/sdk/internal'
import type { Loaded } from '../config/load.ts'
import { agentAddress } from './agent-address.ts'

/** What an agent needs at most to answer, on a busy machine too. Unit: milliseconds. */
const AGENT_LIMIT_MS = 5000
const MARKS = { ok: '✓', broken: '✗', unknown: '·' } as const

/** Options of {@link runExplain}. */
export interface ExplainFlags {
  readonly json?: boolean
}

/**
 * `sonde explain [DEVICE|METRIC|SOURCE|traceback|RULE]`: walks the chain behind it and prints every link, the first
 * broken one with how to fix it. It looks at the files itself; where an agent answers on the configured address,
 * it adds what that knows. Exit code 0 where every chain is whole, 1 where a link is broken, 2 where nothing has that
 * name.
 */
export async function runExplain(of: string, { config }: Loaded, { json }: ExplainFlags): Promise<number> {
  const place = agentAddress(config.agent.export.prometheus)
  const options = {
    ground: new KernelGround(config.agent.paths),
    definitions: SOURCES,
    configured: config.agent.dataSources,
    facts: await factsAt(place),
    traceback: config.agent.traceback,
    agentPlace: place,
    trial: (source: DataSourceConfig) => trialOf(source, config.agent),
  }
  try {
    const explanations = await explain(of, options)
    const text = () =>
      textOf(explanations, of === '')
        .split('\n')
        .map(printable)
        .join('\n')
    console.log(json === true ? JSON.stringify(explanations, null, 2) : text())
    return explanations.every(isWhole) ? 0 : 1
  } catch (error) {
    if (!(error instanceof SondeError) || error.code !== 'EXP_UNKNOWN') throw error
    console.error(`sonde: ${printable(messageOf(error))}`)
    return 2
  }
}

/** What the agent there knows; undefined if none answers. */
async function factsAt(place: string): Promise<AgentFacts | undefined> {
  const ask = async <T>(path: string): Promise<T | undefined> => {
    try {
      const response = await fetch(`${place}/api/v1/${path}`, { signal: AbortSignal.timeout(AGENT_LIMIT_MS) })
      return response.ok ? ((await response.json()) as T) : undefined
    } catch {
      // Nothing listens there, or something else does: the walk says that no agent answers.
      return undefined
    }
  }
  const told = await ask<{ sources?: readonly SourceFacts[] }>('sources')
  if (told?.sources === undefined) return undefined
  const { sources } = told
  return {
    async source(name) {
      const listed = sources.find((each) => each.name === name)
      // The list has neither what a source reads nor what failed.
      return listed && ((await ask<SourceFacts>(`sources/${encodeURIComponent(name)}`)) ?? listed)
    },
    async series(wanted) {
      const [[key, value] = ['', '']] = Object.entries(wanted)
      const answer = await ask<{ series: readonly LatestSeries[] }>(`series?${key}=${encodeURIComponent(value)}`)
      return answer?.series ?? []
    },
    types: async () => (await ask<{ types: readonly ToldType[] }>('types'))?.types ?? [],
    traceback: (rule) =>
      ask<TracebackFacts>(`traceback${rule === undefined ? '' : `?rule=${encodeURIComponent(rule)}`}`),
    devices: async () => (await ask<{ devices: readonly DeviceFacts[] }>('devices'))?.devices ?? [],
  }
}

/** Every link of every chain; in short: a line a source, and its broken link. */
function textOf(explanations: readonly Explanation[], isShort: boolean): string {
  if (!isShort) return explanations.map(chainText).join('\n\n')
  const width = Math.max(...explanations.map(({ source }) => source.length))
  return explanations
    .map((explanation) => {
      const broken = explanation.links.find(({ state }) => state === 'broken')
      const name = explanation.source.padEnd(width)
      if (broken === undefined) return `${MARKS.ok} ${name}  ${wholeText(explanation)}`
      return [`${MARKS.broken} ${name}  ${broken.name}: ${broken.tried}`, ...fixing(broken, width + 4)].join('\n')
    })
    .join('\n')
}

/** What was looked at and holds: file › driver › permission. */
function wholeText({ links }: Explanation): string {
  return links.flatMap(({ name, state }) => (state === 'ok' ? [name] : [])).join(' › ')
}

function chainText({ of, source, device, links }: Explanation): string {
  const head = [of, source, device].filter((word, at, all) => word !== '' && all.indexOf(word) === at).join(' · ')
  const nameWidth = Math.max(...links.map(({ name }) => name.length))
  const lines = links.map((link) => {
    const start = `${MARKS[link.state]} ${link.name.padEnd(nameWidth)}  `
    if (link.state === 'broken') return [`${start}${link.tried}`, ...fixing(link, nameWidth + 4)].join('\n')
    return `${start}${link.tried === '' ? link.answer : `${link.tried}: ${link.answer}`}`
  })
  return [head, ...lines.map((line) => `  ${line.replaceAll('\n', '\n  ')}`)].join('\n')
}

/** What came back from a broken link, and how to fix it. */
function fixing({ answer, fix }: ChainLink, indent: number): string[] {
  const space = ' '.repeat(indent)
  const lines = [`${space}came back: ${answer}`]
  if (fix !== undefined) lines.push(`${space}to fix it: ${fix}`)
  return lines
}
