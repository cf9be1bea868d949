import { hostname, userInfo } from 'node:os'
import { dirname } from 'node:path'
import { AuditLog, PARAMS, Params } from '@sonde/console'
import { SondeError } from '@sonde/sdk'
import type { Param, ParamVersion } from '@sonde/sdk/api'
import { countOf, printable, sondeCommand } from '@sonde/sdk/internal'
import type { Loaded } from '../config/load.ts'
import { storePath } from '../config/store-path.ts'
import { accessDir } from './access.ts'

/** The parameters of a server, kept in its data folder. */
export function openParams(loaded: Loaded, onFault: (fault: SondeError) => void): Params {
  const { access, store } = loaded.config
  const folder = dirname(storePath(store))
  return new Params({ folder, managed: managedIn(loaded), allowsPrivateUrls: access.allow_private_urls, onFault })
}

/** `sonde params get NAME…`, or all of them. */
export async function printParams(loaded: Loaded, names: readonly string[]): Promise<void> {
  const known = (await readParams(loaded)).list()
  const unknown = names.filter((name) => !known.some((param) => param.name === name))
  if (unknown.length > 0)
    throw new SondeError('PRM_VALUE', `${unknown.join(', ')}: unknown parameter; ${sondeCommand()} params list has all`)
  const wanted = names.length === 0 ? known : known.filter(({ name }) => names.includes(name))
  const width = Math.max(...wanted.map(({ name }) => name.length))
  for (const { name, value } of wanted) console.log(printable(`${name.padEnd(width)}  ${value}`))
}

/** `sonde params list`: each parameter with origin, allowed values and purpose. */
export async function listParams(loaded: Loaded): Promise<void> {
  for (const line of (await readParams(loaded)).list().flatMap(described)) console.log(printable(line))
}

/** `sonde params set NAME=VALUE…`. */
export async function setParams(loaded: Loaded, pairs: readonly string[], isForced: boolean): Promise<void> {
  const changes: Record<string, string> = {}
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    if (at < 1)
      throw new SondeError(
        'PRM_VALUE',
        `${JSON.stringify(pair.slice(0, 60))} is no NAME=VALUE; NAME= gives the default back`,
      )
    changes[pair.slice(0, at)] = pair.slice(at + 1)
  }
  await change(loaded, 'params.set', (params, who) => params.set(changes, { who, isForced }))
}

/** `sonde params undo`: takes the last change back. */
export async function undoParams(loaded: Loaded): Promise<void> {
  await change(loaded, 'params.undo', (params, who) => params.undo({ who }))
}

/** `sonde params history`. */
export async function printHistory(loaded: Loaded): Promise<void> {
  const history = (await readParams(loaded)).history()
  if (history.length === 0) console.error('sonde: no parameter was ever changed')
  for (const { version, timeMs, who, changes } of history) {
    console.log(printable(`version ${version} · ${new Date(timeMs).toISOString()} · ${who}`))
    for (const each of changes)
      console.log(printable(`  ${each.name}: ${each.before || '(default)'} → ${each.after || '(default)'}`))
  }
}

async function change(
  loaded: Loaded,
  action: string,
  make: (params: Params, who: string) => Promise<ParamVersion>,
): Promise<void> {
  const who = `${userInfo().username}@${hostname()}`
  const audit = new AuditLog(accessDir(loaded), (fault) => console.error(`sonde: ${printable(fault.message)}`))
  const { version, timeMs, changes } = await make(openParams(loaded, fail), who)
  for (const { name, before, after } of changes)
    await audit.note({ timeMs, action, who, via: 'command', from: '', what: name, before, after })
  for (const { name, before, after } of changes)
    console.log(printable(`${name}: ${before || '(default)'} → ${after || '(default)'}${effectOf(name)}`))
  const count = countOf(changes.length, 'parameter')
  console.log(changes.length === 0 ? 'nothing to change' : `version ${version}: ${count} changed`)
}

function effectOf(name: string): string {
  const effect = PARAMS.find((definition) => definition.name === name)?.effect
  if (effect === 'render') return `; takes effect with: ${sondeCommand()} manifests gpu-stack`
  return effect === 'start' ? '; takes effect at the next start' : ''
}

/** The parameters as they are now. */
export async function readParams(loaded: Loaded): Promise<Params> {
  const params = openParams(loaded, fail)
  await params.refresh()
  return params
}

/** Who cannot read the file must not take it for an empty one. */
function fail(fault: SondeError): never {
  throw fault
}

/** Values that the configuration sets, by the name of their parameter. */
function managedIn({ config, originOf }: Loaded): ReadonlyMap<string, string> {
  const { gpu_metrics_max_pods: pods, gpu_metrics_max_concurrent: concurrent } = config.agent.limits
  const values: Readonly<Record<string, string | undefined>> = {
    gpu_metrics_max_pods: `${pods}`,
    gpu_metrics_max_concurrent: `${concurrent}`,
    prometheus_url: config.console.prometheus.url,
  }
  return new Map(
    PARAMS.flatMap(({ name, key }) => {
      const value = values[name]
      const isGiven = key !== undefined && value !== undefined && originOf(key) !== 'default'
      return isGiven ? [[name, value] as const] : []
    }),
  )
}

function described({ name, value, origin, allowed, purpose, setBy }: Param): string[] {
  const from =
    origin === 'set' ? `set by ${setBy ?? 'somebody'}` : origin === 'file' ? 'from the configuration' : 'default'
  return [`${name} = ${value === '' ? '(none)' : value}  (${from})`, `    ${purpose}. Allowed: ${allowed}.`]
}
