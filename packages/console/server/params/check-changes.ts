import { closest, HIDDEN } from '@sonde/sdk/config'
import { sondeCommand } from '@sonde/sdk/internal'
import { PARAMS, type ParamDefinition, REFUSED_PARAMS } from './definitions.ts'

/** Values by name; an empty value gives the default back. */
export type ParamChanges = Readonly<Record<string, string>>

/** How a change is checked. */
export interface ChangeRules {
  /** Takes unknown names, and names that the configuration file sets. */
  readonly isForced: boolean
  /** Names that the configuration file sets. */
  readonly managed: ReadonlySet<string>
  /** The present values, with defaults. */
  readonly presentValue: (name: string) => string
}

const NAME = /^[a-z][a-z0-9_]{0,63}$/
const VALUE_CHARACTERS_MAX = 1024
const OBSERVABILITY = 'gpu_observability_enable'
const PLUGIN = 'nvidia_device_plugin_enable'

const byName = new Map(PARAMS.map((definition) => [definition.name, definition]))

/** The definition of a parameter; undefined if it is unknown. */
export function paramDefinition(name: string): ParamDefinition | undefined {
  return byName.get(name)
}

/** Every reason why changes are not allowed, as sentences; none if they are. */
export function faultsOfChanges(changes: ParamChanges, rules: ChangeRules): string[] {
  const faults = Object.entries(changes).flatMap(([name, value]) => faultOf(name, value, rules))
  return faults.length > 0 ? faults : faultsTogether(changes, rules)
}

function faultOf(name: string, value: string, { isForced, managed }: ChangeRules): string[] {
  const refusal = REFUSED_PARAMS.get(name)
  if (refusal !== undefined) return [`${name} can have no effect: ${refusal}`]
  if (!NAME.test(name)) return [`${JSON.stringify(name.slice(0, 80))} is no name of a parameter`]
  const definition = byName.get(name)
  if (definition === undefined) {
    if (isForced) return value.length > VALUE_CHARACTERS_MAX ? [`${name} is too long`] : []
    const meant = closest(name, [...byName.keys()])
    const hint = meant === undefined ? `${sondeCommand()} params list has all` : `did you mean ${meant}?`
    return [`${name} is an unknown parameter (${hint}); --force keeps it all the same`]
  }
  if (managed.has(name) && !isForced)
    return [`${name} is set by ${definition.key} of the configuration file; --force outranks the file`]
  if (value === '') return []
  if (definition.isSecretUrl === true && value.includes(HIDDEN))
    return [`${name} needs the secret itself, where a print-out has ${HIDDEN}`]
  const fault = definition.faultOf(value)
  return fault === '' ? [] : [`${name} ${fault}`]
}

/** Parameters that need one another, as they would be after the change. */
function faultsTogether(changes: ParamChanges, { presentValue }: ChangeRules): string[] {
  const after = (name: string) => {
    const given = changes[name] ?? presentValue(name)
    return given === '' ? (byName.get(name)?.fallback ?? '') : given
  }
  const concerns = OBSERVABILITY in changes || PLUGIN in changes
  if (!concerns || after(OBSERVABILITY) !== 'true' || after(PLUGIN) === 'true') return []
  return [
    changes[OBSERVABILITY] === 'true'
      ? `${OBSERVABILITY} needs ${PLUGIN}: set both in one command, or ${PLUGIN}=true first`
      : `${PLUGIN} is needed by ${OBSERVABILITY}: set both to false, or ${OBSERVABILITY}=false first`,
  ]
}
