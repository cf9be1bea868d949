import type { InferOutput, ObjectEntries, StrictObjectSchema } from 'valibot'
import { SondeError } from '../errors.ts'
import { block, check } from './kit.ts'

/**
 * Those options that a block has, with their defaults; what else is among them is somebody else's. `undefined` counts
 * as left out. `where` says whose they are, such as ` of the files`.
 *
 * @throws SondeError of the code, which names the first wrong option, its value and what is allowed.
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
