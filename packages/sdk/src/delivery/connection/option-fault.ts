import { SondeError } from '../../errors.ts'

/** An option of a connection that cannot be used, for a reason that only this machine knows: a file, a variable. */
export class OptionFault extends SondeError {
  /** The option as programs spell it, such as `tls.caFile`. */
  readonly key: string
  /** The fault as the predicate of a sentence. Contains no secret. */
  readonly fault: string
  /** The allowed values, in words. */
  readonly allowed: string

  constructor(key: string, fault: string, allowed: string, cause?: unknown) {
    super('DLV_CONNECTION', `${key} ${fault}; allowed: ${allowed}`, { cause })
    this.key = key
    this.fault = fault
    this.allowed = allowed
  }
}

/**
 * The fault of options, for `SinkDefinition.refuse`; undefined if `read` finds none.
 *
 * @example
 * refuse: (options) => clashOfLimits(options) ?? optionFault(() => readTls(options.tls))
 */
export function optionFault(read: () => unknown): OptionFault | undefined {
  try {
    read()
    return undefined
  } catch (error) {
    if (error instanceof OptionFault) return error
    throw error
  }
}
