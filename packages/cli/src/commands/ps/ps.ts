import type { PodsAnswer } from '@sonde/sdk/api'
import { printable } from '@sonde/sdk/internal'
import { ConfigError } from '../../config/config-error.ts'
import { askAgent } from './ask-agent.ts'
import { podsText } from './pods-text.ts'

/** Names that an app may have. */
const NAME = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$/

/** Options of {@link runPs}. */
export interface PsFlags {
  /** Pods of this app alone. Default: those of all. */
  readonly app?: string
  readonly json?: boolean
  /** Address of the agent. Default: where the agent of this machine is configured to answer. */
  readonly url?: string
  /** A Prometheus-compatible server that is asked instead of an agent. */
  readonly prometheus?: string
}

/**
 * `sonde ps`: prints the GPU pods that an agent knows, and why a number is missing. Exit code 0 if it answers, no
 * pod included.
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

/** The pods as an agent knows them, or as a Prometheus has them that scrapes agents or exporters. */
async function answerOf({ app, url, prometheus }: PsFlags, usualAddress: () => Promise<string>): Promise<PodsAnswer> {
  if (prometheus === undefined) return askAgent(url === undefined ? await usualAddress() : originOf(url), app)
  const { ExporterHistory, podsAnswer, PrometheusHistory } = await import('@sonde/console')
  return podsAnswer(
    { history: new ExporterHistory(new PrometheusHistory({ url: prometheus })), place: 'prometheus' },
    app,
  )
}

/** Prints pods, wherever they are known from: the table on stdout, and what is wrong as a whole on stderr. */
function printPods(answer: PodsAnswer, { app, isJson }: { readonly app?: string; readonly isJson: boolean }): void {
  if (isJson) {
    console.log(JSON.stringify(answer, null, 2))
    return
  }
  if (answer.pods.length > 0) console.log(podsText(answer))
  for (const sentence of complaints(answer, app)) console.error(`sonde: ${printable(sentence)}`)
}

/** What is wrong with all of it, and what to do next. */
function complaints({ state, summary, advice, otherApps }: PodsAnswer, app: string | undefined): readonly string[] {
  if (otherApps.length > 0) return [`${app} has no GPU pod; apps that have: ${otherApps.join(', ')}`]
  return state === 'ready' ? [] : [summary, ...advice]
}

/** The origin of an address: without path, and without a name and password, which no agent asks for. */
function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url?.username === '' && url.password === '' && url.pathname === '/' && url.search === ''
  if (isPlain && /^https?:$/.test(url.protocol)) return url.origin
  throw new ConfigError([`--url is ${JSON.stringify(text)}; allowed: http://HOST:PORT or https://HOST:PORT`])
}
