import { SondeError, shown } from '../../errors.ts'
import type { PrometheusListenerOptions } from './listener.ts'

/** Variables by name, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>

/**
 * The variables of the guide as options: `PROMETHEUS_ENDPOINT`, `PROMETHEUS_INDEXES`, `PROMETHEUS_CSET_DIR`,
 * `PROMETHEUS_FSET_DIR`, `CLX_METADATA_FILE` and `CLX_PROMETHEUS_CONSTANT_LABELS`; and `SONDE_PROMETHEUS_WHEN_TAKEN`.
 * Empty ones count as not there. Pure.
 *
 * @throws SondeError `PRM_LABELS` if a constant label has no `=`, `PRM_OPTION` if a word is none of those
 * allowed.
 */
export function listenerOptionsOf(environment: Environment): PrometheusListenerOptions {
  const options: PrometheusListenerOptions = {}
  const take = (name: string, set: (text: string) => void) => {
    const text = environment[name]
    if (text !== undefined && text !== '') set(text)
  }
  take('PROMETHEUS_ENDPOINT', (text) => {
    options.endpoint = text
  })
  take('PROMETHEUS_INDEXES', (text) => {
    options.indexes = listOf(text)
  })
  take('PROMETHEUS_CSET_DIR', (text) => {
    options.csetDir = text
  })
  take('PROMETHEUS_FSET_DIR', (text) => {
    options.fsetDir = text
  })
  take('CLX_METADATA_FILE', (text) => {
    options.metadataFile = text
  })
  take('CLX_PROMETHEUS_CONSTANT_LABELS', (text) => {
    options.constantLabels = Object.fromEntries(listOf(text).map(labelOf))
  })
  take('SONDE_PROMETHEUS_WHEN_TAKEN', (text) => {
    if (text !== 'fail' && text !== 'service')
      throw new SondeError('PRM_OPTION', `SONDE_PROMETHEUS_WHEN_TAKEN is ${shown(text)}; allowed: fail, service`)
    options.whenTaken = text
  })
  return options
}

function listOf(text: string): string[] {
  return text.split(',').map((part) => part.trim())
}

function labelOf(text: string): [name: string, value: string] {
  const at = text.indexOf('=')
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)]
  throw new SondeError(
    'PRM_LABELS',
    `CLX_PROMETHEUS_CONSTANT_LABELS has ${shown(text)}; allowed: name=value,name=value`,
  )
}
