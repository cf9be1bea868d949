import { SondeError } from '../errors.ts'
import type { OptionClash } from './registry.ts'

/** @throws SondeError with the code, if options that are each valid do not go together. */
export function refuseClash(clash: OptionClash | undefined, code: string, where: string): void {
  if (clash === undefined) return
  const { key, fault, allowed } = clash
  throw new SondeError(code, `${key}${where} ${fault ?? 'is not possible'}; allowed: ${allowed}`)
}
