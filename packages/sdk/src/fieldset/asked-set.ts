import { SondeError, shown } from '../errors.ts'
import { FIELD_CLASSES } from '../schema/field.ts'
import { coreOf, type FieldSet } from './fieldset.ts'

/**
 * The fields that the parameter `set` of an address asks for: `full`, the default, or `core`. `filter` are the fields
 * of the address itself. Other parameters have no effect.
 *
 * @throws SondeError `SET_CLASS` if the parameter has another value, or is given twice.
 */
export function askedSet(url: string, filter?: FieldSet): FieldSet | undefined {
  const start = url.indexOf('?')
  if (start < 0) return filter
  const asked = new URLSearchParams(url.slice(start)).getAll('set')
  if (asked.length === 0) return filter
  if (asked.length > 1) throw fault(`set is given ${asked.length} times`)
  if (asked[0] === 'core') return coreOf(filter)
  if (asked[0] === 'full') return filter
  throw fault(`set is ${shown(asked[0])}`)
}

function fault(what: string): SondeError {
  return new SondeError('SET_CLASS', `${what}; allowed: ${FIELD_CLASSES.join(', ')}, once`)
}
