import { SondeError } from '@sonde/sdk'
import type { Holding } from './claims.ts'

/** Holdings that one command may list. */
const COUNT_MAX = 65_536

/**
 * Parses the holdings of a command.
 *
 * @throws SondeError `AGT_COMMAND` if the command is malformed.
 */
export function holdingsIn(command: unknown): readonly Holding[] {
  const { hold } = (command ?? {}) as { readonly hold?: unknown }
  const holdings: readonly unknown[] = Array.isArray(hold) && hold.length <= COUNT_MAX ? hold : [undefined]
  if (holdings.every(isHolding)) return holdings
  throw new SondeError(
    'AGT_COMMAND',
    `the command is none that exporters take; allowed: hold, a list of at most ${COUNT_MAX} keys with holder and isTaken`,
  )
}

function isHolding(given: unknown): given is Holding {
  const { key, holder, isTaken } = (given ?? {}) as Partial<Record<keyof Holding, unknown>>
  return typeof key === 'string' && typeof holder === 'string' && typeof isTaken === 'boolean'
}
