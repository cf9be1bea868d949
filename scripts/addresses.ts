// Public addresses of the project, from addresses.json. Each text leaves out an address that is still empty.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './check/sources.ts'

/** The addresses of the project. An address that does not exist yet is an empty string. */
export interface Addresses {
  /** Address of the repository on the web, without `.git`. */
  readonly repository: string
  /** Mail address for reports of vulnerabilities. */
  readonly securityContact: string
  /** Folder on the web with a page for each alert. */
  readonly runbooks: string
}

/** Reads `addresses.json`. */
export function readAddresses(): Addresses {
  return JSON.parse(readFileSync(join(root, 'addresses.json'), 'utf8'))
}

/** The fields of a published `package.json` that name the repository: none before the repository has an address. */
export function repositoryFields({ repository }: Addresses, directory: string): Record<string, unknown> {
  if (repository === '') return {}
  return {
    homepage: repository,
    bugs: `${repository}/issues`,
    repository: { type: 'git', url: `git+${repository}.git`, directory },
  }
}
