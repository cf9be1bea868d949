import type { InferOutput, ObjectEntries, StrictObjectSchema } from 'valibot'
import { SondeError } from '../errors.ts'
import { block, check } from './kit.ts'

/**
 * The options of a block, with defaults. Other names are ignored: they belong to other blocks. `undefined` counts as
 * left out. `where` names the owner of the options in messages, for example ` of the files`.
 *
 * @throws SondeError with the code, for the first wrong option: its name, value and allowed values.
 */
export function checkOptions<const E extends ObjectEntries>(
  entries: E,
  given: object,
  code: string,
  where: string,
): InferOutput<StrictObjectSchema<E, undefined>> {
  const own = Object.entries(given).filter(([key, value]) => Object.hasOwn(entries, key) && value !== undefined)
  const checked = check(block(entries), Object.fromEntries(own), '')
  if (checked.ok) return checked.value as InferOutput<StrictObjectSchema<E, undefined>>
  const [{ path, fault, allowed } = { path: '', fault: '', allowed: '' }] = checked.issues
  throw new SondeError(code, `${path}${where} ${fault}; allowed: ${allowed}`)
}
