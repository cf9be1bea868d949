import { existsSync } from 'node:fs'
import { ApiServer } from '@sonde/agent'
import { SondeError } from '@sonde/sdk'
import { printable, shellWord, sondeCommand } from '@sonde/sdk/internal'
import { stringify } from 'yaml'
import { type Drift, driftOf } from '../autoscale/drift.ts'
import {
  ASKING,
  autoscaleObjects,
  entriesByObject,
  followsParam,
  type ScaledObject,
  type ServerAddress,
  serverAddressOf,
} from '../autoscale/scaled-object.ts'
import { ConfigError } from '../config/config-error.ts'
import type { Loaded } from '../config/load.ts'
import { YAML_OPTIONS } from '../manifests/template/functions.ts'
import { readParams } from './params.ts'

/** Options of `sonde manifests autoscale`. */
export interface AutoscaleFlags {
  readonly config?: string
  readonly dataDir?: string
  readonly only?: readonly string[]
  readonly check?: string
}

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'
/** Objects of an answer, and answers at most. */
const [PAGE_OBJECTS, PAGES_MAX] = [500, 100]
/** Time of an answer, and of all answers. Unit: milliseconds. */
const [ANSWER_LIMIT_MS, LIST_LIMIT_MS] = [30_000, 120_000]
/** Size of all answers. Unit: bytes. */
const LIST_BYTES_MAX = 64 << 20

/** `sonde manifests autoscale`: prints ScaledObjects, or with `--check` which ones of the cluster differ. */
export async function runAutoscale(loaded: Loaded, flags: AutoscaleFlags): Promise<void> {
  const { autoscale } = loaded.config
  if (autoscale.length === 0)
    throw new ConfigError([
      'kubernetes.autoscale has no entry, so there is nothing to scale; docs/autoscale.md has one',
    ])
  const groups = entriesByObject(autoscale)
  const unknown = flags.only?.filter((object) => !groups.has(object)) ?? []
  if (unknown.length > 0)
    throw new ConfigError([`--only is ${unknown.join(', ')}; allowed: ${[...groups.keys()].join(', ')}`])
  const live = await liveAddress(loaded)
  if (flags.check !== undefined) {
    await printDrift(loaded, flags, live)
    return
  }
  const wanted = [...groups].filter(([object]) => flags.only === undefined || flags.only.includes(object))
  if (live === undefined && wanted.some(([, entries]) => entries.some(followsParam)))
    throw new ConfigError([
      `no Prometheus is known; ${sondeCommand()} params set prometheus_url=http://HOST:PORT, or give each entry a prometheusUrl`,
    ])
  const objects = wanted.flatMap(([, entries]) => autoscaleObjects(entries, live))
  for (const { kind, metadata } of objects) {
    const { namespace, name } = metadata
    // Messages go to stderr: what is printed is applied.
    if (kind === 'TriggerAuthentication')
      console.error(
        `sonde: ${namespace}/${name} needs a Secret: kubectl -n ${namespace} create secret generic ${name} --from-file=username --from-file=password`,
      )
  }
  process.stdout.write(objects.map((object) => `---\n${stringify(object, YAML_OPTIONS)}`).join(''))
}

async function liveAddress(loaded: Loaded): Promise<ServerAddress | undefined> {
  const text = (await readParams(loaded)).value('prometheus_url')
  if (text === '') return undefined
  const url = URL.parse(text)
  if (url !== null && url.search !== '')
    throw new ConfigError(['prometheus_url has a query, which may be a secret; give it without a query'])
  return serverAddressOf(text)
}

async function printDrift(loaded: Loaded, flags: AutoscaleFlags, live: ServerAddress | undefined): Promise<void> {
  const { autoscale } = loaded.config
  const rendered = new Map<string, ScaledObject>()
  for (const [object, entries] of entriesByObject(autoscale))
    for (const made of autoscaleObjects(entries, live)) if (made.kind === 'ScaledObject') rendered.set(object, made)
  const own = new Set(
    autoscale.flatMap(({ namespace, service, trigger, prometheusUrl }) =>
      prometheusUrl !== undefined && trigger in ASKING
        ? [`${namespace}/${service} ${ASKING[trigger as keyof typeof ASKING]}`]
        : [],
    ),
  )
  const found = await scaledObjects(flags.check ?? '')
  const drifts = found.flatMap((object) => driftOf(object, rendered, live?.url, own) ?? [])
  const shown = drifts.filter(({ object }) => flags.only === undefined || flags.only.includes(object))
  for (const line of shown.flatMap(linesOf)) console.log(printable(line))
  const isStale = shown.some(({ stale }) => stale.length > 0)
  const toApply = shown.filter(({ isRendered }) => isRendered)
  const options = [
    ...(flags.config === undefined ? [] : [`--config ${shellWord(flags.config)}`]),
    ...(flags.dataDir === undefined ? [] : [`--data-dir ${shellWord(flags.dataDir)}`]),
    ...toApply.map(({ object }) => `--only ${object}`),
  ]
  if (toApply.length > 0)
    console.log(printable(`${sondeCommand()} manifests autoscale ${options.join(' ')} | kubectl apply -f -`))
  if (shown.length === 0) console.log(`no ScaledObject is stale, of ${found.length}`)
  if (live === undefined) console.error('sonde: no prometheus_url is set, so no address was compared')
  if (isStale) process.exitCode = 1
}

function linesOf({ object, stale, edited, further, isRendered }: Drift): string[] {
  return [
    object,
    ...stale.map((text) => `  stale: ${text}`),
    ...edited.map((text) => `  edited: ${text}`),
    ...(further.length > 0 ? [`  an apply removes the triggers ${further.join(', ')}`] : []),
    ...(isRendered ? [] : ['  no entry of kubernetes.autoscale renders it']),
  ]
}

/** The ScaledObjects of all namespaces. They are only read. */
async function scaledObjects(address: string): Promise<readonly unknown[]> {
  if (!/^https?:\/\/[^\s/@?#]+\/?$/.test(address))
    throw new ConfigError(['--check is no address such as http://127.0.0.1:8001, which kubectl proxy has'])
  const fileOf = (name: string) =>
    address.startsWith('https:') && existsSync(`${ACCOUNT}/${name}`) ? `${ACCOUNT}/${name}` : ''
  const server = new ApiServer({
    ...{ address: address.replace(/\/$/, ''), tokenFile: fileOf('token'), caFile: fileOf('ca.crt') },
    ...{ timeoutMs: ANSWER_LIMIT_MS, bytesMax: LIST_BYTES_MAX },
  })
  const all: unknown[] = []
  const signal = AbortSignal.timeout(LIST_LIMIT_MS)
  let [next, bytes] = ['', 0]
  for (let page = 0; page < PAGES_MAX; page++) {
    const more = next === '' ? '' : `&continue=${encodeURIComponent(next)}`
    const path = `/apis/keda.sh/v1alpha1/scaledobjects?limit=${PAGE_OBJECTS}${more}`
    const text = await server.object(path, signal)
    if (text === undefined)
      throw new SondeError(
        'SRC_API_SERVER',
        `the API server ${server.address} has no ScaledObjects: is KEDA installed?`,
      )
    const list = listOf(text, server.address)
    for (const item of list.items) all.push(item)
    bytes += text.length
    next = list.next
    if (next === '') return all
    if (bytes > LIST_BYTES_MAX) break
  }
  throw new SondeError('SRC_API_SERVER', `the API server ${server.address} does not end its list`)
}

interface ObjectList {
  readonly items: readonly unknown[]
  /** Continues the list; empty at its end. */
  readonly next: string
}

function listOf(text: string, address: string): ObjectList {
  try {
    const list = JSON.parse(text)
    const next = list?.metadata?.continue ?? ''
    if (Array.isArray(list?.items) && typeof next === 'string') return { items: list.items, next }
  } catch {
    // It is no JSON, which the message below says.
  }
  throw new SondeError('SRC_API_SERVER', `the API server ${address} answers with text that is no list`)
}
