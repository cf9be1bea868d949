import type { PodsAnswer } from '@sonde/sdk/api'
import { printable } from '@sonde/sdk/internal'
import { ConfigError } from '../../config/config-error.ts'
import { askAgent } from './ask-agent.ts'
import { podsText } from './pods-text.ts'

/** Valid names of an app. */
const NAME = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$/

/** Options of {@link runPs}. */
export interface PsFlags {
  /** Only pods of this app. Default: pods of all apps. */
  readonly app?: string
  readonly json?: boolean
  /** Address of the agent. Default: the configured address of this machine's agent. */
  readonly url?: string
  /** Address of a Prometheus-compatible server, asked instead of an agent. */
  readonly prometheus?: string
}

/**
 * `sonde ps`: prints the GPU pods that an agent knows, and the reason of each missing number. Exit code 0 if the agent
 * answers, even without any pod.
 *
 * @throws ConfigError if an option is wrong.
 * @throws SondeError `CLI_AGENT` if no agent answers.
 */
export async function runPs(flags: PsFlags, usualAddress: () => Promise<string>): Promise<number> {
  const { app, json } = flags
  if (app !== undefined && !NAME.test(app))
    throw new ConfigError([`--app is ${JSON.stringify(app)}; allowed: letters, digits, ".", "_" and "-"`])
  printPods(await answerOf(flags, usualAddress), { ...(app === undefined ? {} : { app }), isJson: json === true })
  return 0
}

/** Pods from an agent, or from a Prometheus that scrapes agents or exporters. */
async function answerOf({ app, url, prometheus }: PsFlags, usualAddress: () => Promise<string>): Promise<PodsAnswer> {
  if (prometheus === undefined) return askAgent(url === undefined ? await usualAddress() : originOf(url), app)
  const { ExporterHistory, podsAnswer, PrometheusHistory } = await import('@sonde/console')
  return podsAnswer(
    { history: new ExporterHistory(new PrometheusHistory({ url: prometheus })), place: 'prometheus' },
    app,
  )
}

/** Prints pods: the table on stdout, problems of the whole answer on stderr. */
function printPods(answer: PodsAnswer, { app, isJson }: { readonly app?: string; readonly isJson: boolean }): void {
  if (isJson) {
    console.log(JSON.stringify(answer, null, 2))
    return
  }
  if (answer.pods.length > 0) console.log(podsText(answer))
  for (const sentence of complaints(answer, app)) console.error(`sonde: ${printable(sentence)}`)
}

/** Problems of the whole answer, and what to do next. */
function complaints({ state, summary, advice, otherApps }: PodsAnswer, app: string | undefined): readonly string[] {
  if (otherApps.length > 0) return [`${app} has no GPU pod; apps that have: ${otherApps.join(', ')}`]
  return state === 'ready' ? [] : [summary, ...advice]
}

/** The origin of an address: without path, user name and password. An agent needs none of them. */
function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url?.username === '' && url.password === '' && url.pathname === '/' && url.search === ''
  if (isPlain && /^https?:$/.test(url.protocol)) return url.origin
  throw new ConfigError([`--url is ${JSON.stringify(text)}; allowed: http://HOST:PORT or https://HOST:PORT`])
}
