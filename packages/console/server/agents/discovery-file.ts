import { SondeError } from '@sonde/sdk'
import { isJsonObject } from '@sonde/sdk/internal'
import { AGENT_NAME } from './config.ts'

/** Where an agent is. */
export interface AgentPlace {
  /** Its name in addresses. */
  readonly name: string
  /** Scheme, host and port, without a slash at the end. */
  readonly url: string
}

const TARGET = /^[^\s/?#@\\]{1,260}$/
/** Targets of one file, repeated ones included. */
const TARGET_COUNT_MAX = 10_000

/**
 * The agents of a discovery file of Prometheus.
 *
 * @throws SondeError `NOD_DISCOVERY` if the file is malformed or has too many targets.
 */
export function agentsOfFile(text: string, path: string, scheme: 'http' | 'https'): readonly AgentPlace[] {
  const fault = (why: string) => new SondeError('NOD_DISCOVERY', `${path} ${why}`)
  let groups: unknown
  try {
    groups = JSON.parse(text)
  } catch {
    throw fault('is no JSON; allowed: a list of groups with targets, as Prometheus reads it')
  }
  if (!Array.isArray(groups)) throw fault('is no list; allowed: a list of groups with targets')
  const places: AgentPlace[] = []
  for (const group of groups as readonly unknown[]) {
    const { targets, labels } = isJsonObject(group) ? group : {}
    if (!Array.isArray(targets)) throw fault('has a group without a list of targets')
    const name = isJsonObject(labels) ? labels.node : undefined
    if (name !== undefined && (typeof name !== 'string' || !AGENT_NAME.test(name) || targets.length > 1))
      throw fault('has a label node that is no name of one target; allowed: letters, digits and _ . : @ -')
    for (const target of targets as readonly unknown[]) {
      if (typeof target !== 'string' || !TARGET.test(target) || URL.parse(`${scheme}://${target}`) === null)
        throw fault(`has the target ${JSON.stringify(target)?.slice(0, 200) ?? 'nothing'}; allowed: HOST:PORT`)
      if (places.push(placeAt(scheme, target, name)) > TARGET_COUNT_MAX)
        throw fault(`has too many targets; allowed: ${TARGET_COUNT_MAX}`)
    }
  }
  return places
}

/** An agent at `HOST:PORT`; without a name of its own it is called by that. */
export function placeAt(scheme: string, target: string, name = target.replaceAll(/[^\w.:@-]/g, '')): AgentPlace {
  return { name, url: `${scheme}://${target}` }
}
