import type { SourceDefinition, SourcePaths } from '@sonde/agent/config'
import { codeFault, TRUST_VARIABLE } from '@sonde/sdk/internal'
import { ConfigError } from './config-error.ts'

/** The greatest id of a user: the one above says that there is none. */
const UID_MAX = 2 ** 32 - 2

/** Has files of these users count as those of root, here and in processes that this one starts. @throws ConfigError */
export function trustOwners(uids: readonly string[]): void {
  const wrong = uids.filter((uid) => !/^\d{1,10}$/.test(uid) || Number(uid) > UID_MAX)
  if (wrong.length > 0)
    throw new ConfigError(wrong.map((uid) => `--trust-owner is ${JSON.stringify(uid)}; allowed: the number of a user`))
  const given = process.env[TRUST_VARIABLE] ?? ''
  if (uids.length > 0) process.env[TRUST_VARIABLE] = [given, ...uids].filter((uid) => uid !== '').join(',')
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
