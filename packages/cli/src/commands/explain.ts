import { type AgentFacts, explain, isUnbroken, KernelContext, runTrial } from '@sonde/agent'
import { type DataSourceConfig, SOURCES } from '@sonde/agent/config'
import { SondeError } from '@sonde/sdk'
import type { ApiAnswers, ExplainLink, ExplainWalk, SourcesAnswer } from '@sonde/sdk/api'
import { messageOf, namespacedName, printable } from '@sonde/sdk/internal'
import type { Loaded } from '../config/load.ts'
import { agentAddress } from './agent-address.ts'
import { answerAt } from './agent-answer.ts'

/** Longest time that an agent needs for an answer, even on a busy machine. Unit: milliseconds. */
const AGENT_LIMIT_MS = 5000
const MARKS = { ok: '✓', broken: '✗', unknown: '·' } as const

/** Options of {@link runExplain}. */
export interface ExplainFlags {
  readonly json?: boolean
}

/**
 * `sonde explain [DEVICE|METRIC|SOURCE|NAMESPACE/POD|traceback|RULE]`: walks the chain of causes and prints every link,
 * with the fix of the first broken one. It checks the files itself. If an agent answers on the configured address, it
 * adds what that agent reports. Exit code 0 if every chain is whole, 1 if a link is broken, 2 if nothing has that name.
 */
export async function runExplain(of: string, loaded: Loaded, { json }: ExplainFlags): Promise<number> {
  const { config } = loaded
  const place = agentAddress(loaded)
  const options = {
    context: new KernelContext(config.agent.paths),
    definitions: SOURCES,
    configured: config.agent.dataSources,
    facts: await factsAt(place),
    traceback: config.agent.traceback,
    agentPlace: place,
    trial: (source: DataSourceConfig) => runTrial(source, config.agent),
  }
  try {
    const explanations = await explain(of, options)
    const text = () =>
      walksText(explanations, of === '')
        .split('\n')
        .map(printable)
        .join('\n')
    console.log(json === true ? JSON.stringify(explanations, null, 2) : text())
    return explanations.every(isUnbroken) ? 0 : 1
  } catch (error) {
    if (!(error instanceof SondeError) || error.code !== 'EXP_UNKNOWN') throw error
    console.error(`sonde: ${printable(messageOf(error))}`)
    return 2
  }
}

/** The report of the agent; undefined if none answers. */
async function factsAt(place: string): Promise<AgentFacts | undefined> {
  const ask = async <Path extends keyof ApiAnswers>(
    path: Path,
    { name = '', ...query }: Readonly<Record<string, string>> = {},
  ): Promise<ApiAnswers[Path] | undefined> => {
    const address = `${place}${path.replace(':name', encodeURIComponent(name))}?${new URLSearchParams(query)}`
    try {
      const { status, text } = await answerAt(address, AGENT_LIMIT_MS)
      return status === 200 ? (JSON.parse(text) as ApiAnswers[Path]) : undefined
    } catch {
      // Nothing listens there, or another program does. The walk then reports that no agent answers.
      return undefined
    }
  }
  const told: Partial<SourcesAnswer> | undefined = await ask('/api/v1/sources')
  if (told?.sources === undefined) return undefined
  const { sources } = told
  return {
    async source(name) {
      const listed = sources.find((each) => each.name === name)
      // The list alone holds neither the readings of a source nor its failures.
      return listed && ((await ask('/api/v1/sources/:name', { name })) ?? listed)
    },
    async series(wanted) {
      return (await ask('/api/v1/series', wanted))?.series ?? []
    },
    types: async () => (await ask('/api/v1/types'))?.types ?? [],
    traceback: (rule) => ask('/api/v1/traceback', rule === undefined ? {} : { rule }),
    devices: async () => (await ask('/api/v1/devices'))?.devices ?? [],
    async attributions() {
      const pods = (await ask('/api/v1/pods'))?.pods ?? []
      return new Map(
        pods.flatMap(({ namespace, name, attribution }) =>
          attribution === null ? [] : [[namespacedName(namespace, name), attribution]],
        ),
      )
    },
  }
}

/** Every link of every chain. In short form: a line for each source, and its broken link. */
function walksText(explanations: readonly ExplainWalk[], isShort: boolean): string {
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

/** The links that hold: file › driver › permission. */
function wholeText({ links }: ExplainWalk): string {
  return links.flatMap(({ name, state }) => (state === 'ok' ? [name] : [])).join(' › ')
}

function chainText({ of, source, device, links }: ExplainWalk): string {
  const head = [of, source, device].filter((word, at, all) => word !== '' && all.indexOf(word) === at).join(' · ')
  const nameWidth = Math.max(...links.map(({ name }) => name.length))
  const lines = links.map((link) => {
    const start = `${MARKS[link.state]} ${link.name.padEnd(nameWidth)}  `
    if (link.state === 'broken') return [`${start}${link.tried}`, ...fixing(link, nameWidth + 4)].join('\n')
    return `${start}${link.tried === '' ? link.answer : `${link.tried}: ${link.answer}`}`
  })
  return [head, ...lines.map((line) => `  ${line.replaceAll('\n', '\n  ')}`)].join('\n')
}

/** The reason why a link is broken, and how to fix it. */
function fixing({ answer, fix }: ExplainLink, indent: number): string[] {
  const space = ' '.repeat(indent)
  const lines = [`${space}came back: ${answer}`]
  if (fix !== undefined) lines.push(`${space}to fix it: ${fix}`)
  return lines
}
