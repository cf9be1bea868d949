import { SondeError } from '@sonde/sdk'
import { isJsonObject } from '@sonde/sdk/internal'
import { ADDRESS_COUNT_MAX, isAddress } from './options.ts'

/** Host and port, without characters that could start another part of an address. */
const TARGET = /^[^\s/\\@?#]+$/
/** Targets of one file, including repeated ones. */
const TARGET_COUNT_MAX = 16 * ADDRESS_COUNT_MAX
const LABELS = { scheme: '__scheme__', path: '__metrics_path__' }

/**
 * Parses a discovery file of Prometheus. Returns each address once.
 *
 * @throws SondeError `SRC_DISCOVERY` if the file is malformed or lists too many targets.
 */
export function readDiscovery(text: string, path: string): string[] {
  const fault = (why: string) => new SondeError('SRC_DISCOVERY', `${path} ${why}`)
  let groups: unknown
  try {
    groups = JSON.parse(text)
  } catch {
    throw fault('is no JSON; allowed: a list of groups with targets, as Prometheus reads it')
  }
  if (!Array.isArray(groups)) throw fault('is no list; allowed: a list of groups with targets')
  const addresses = new Set<string>()
  let count = 0
  for (const group of groups as readonly unknown[]) {
    const { targets, labels } = isJsonObject(group) ? group : {}
    if (!Array.isArray(targets)) throw fault('has a group without a list of targets')
    const given = isJsonObject(labels) ? labels : {}
    const scheme = textOr(given[LABELS.scheme], 'http')
    const metricsPath = textOr(given[LABELS.path], '/metrics')
    for (const target of targets as readonly unknown[]) {
      if (++count > TARGET_COUNT_MAX) throw fault(`lists too many; allowed: ${TARGET_COUNT_MAX} targets`)
      const address = `${scheme}://${String(target)}${metricsPath}`
      if (typeof target !== 'string' || !TARGET.test(target) || !isAddress(address))
        throw fault(`has the target ${shown(target)}; allowed: HOST:PORT`)
      addresses.add(address)
      if (addresses.size > ADDRESS_COUNT_MAX) throw fault(`lists too many; allowed: ${ADDRESS_COUNT_MAX} addresses`)
    }
  }
  return [...addresses]
}

function textOr(value: unknown, fallback: string): string {
  return typeof value === 'string' ? value : fallback
}

function shown(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 200) ?? 'nothing'
}
