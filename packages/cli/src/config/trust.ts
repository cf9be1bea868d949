import type { SourceDefinition, SourcePaths } from '@sonde/agent/config'
import { codeFault, TRUST_VARIABLE } from '@sonde/sdk/internal'
import { ConfigError } from './config-error.ts'

/** The greatest user id: 2^32 − 1 means "no user". */
const UID_MAX = 2 ** 32 - 2

/**
 * Treats files of these users, and of the users in `SONDE_TRUST_OWNER`, like files of root: in this process, and in
 * processes that it starts.
 *
 * @throws ConfigError if a text is no user id.
 */
export function trustOwners(uids: readonly string[]): void {
  const given = (process.env[TRUST_VARIABLE] ?? '').split(',').flatMap((uid) => uid.trim() || [])
  const wrong = [...faultsOf('--trust-owner', uids), ...faultsOf(TRUST_VARIABLE, given)]
  if (wrong.length > 0) throw new ConfigError(wrong)
  process.env[TRUST_VARIABLE] = [...given, ...uids].join(',')
}

function faultsOf(origin: string, uids: readonly string[]): string[] {
  const wrong = uids.filter((uid) => !/^\d{1,10}$/.test(uid) || Number(uid) > UID_MAX)
  return wrong.map((uid) => `${origin} is ${JSON.stringify(uid)}; allowed: the number of a user`)
}

/**
 * Refuses libraries that root must not load, before any process is started for them.
 *
 * @throws ConfigError
 */
export function refuseForeignLibraries(paths: SourcePaths, definitions: readonly SourceDefinition[]): void {
  const libraries = definitions.flatMap(({ libraries: of }) => of?.(paths) ?? [])
  for (const path of libraries) {
    const fault = codeFault(path)
    if (fault !== '') throw new ConfigError([`library ${path} is not loaded: ${fault}`])
  }
}
