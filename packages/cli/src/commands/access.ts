import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import type { Authorize } from '@sonde/agent'
import { Access, authorize } from '@sonde/console'
import { hostRule, sondeCommand } from '@sonde/sdk/internal'
import type { Logger } from 'pino'
import type { Loaded } from '../config/load.ts'
import { storePath } from '../config/store-path.ts'

/** The folder of tokens and of the log of changes. */
export function accessDir({ config: { access, store } }: Loaded): string {
  return access.dir ?? join(dirname(storePath(store)), 'access')
}

/** The rules by which a server that listens on a host lets requests in. */
export function openAccess(loaded: Loaded, host: string, log: Pick<Logger, 'error'>): Access {
  return new Access({
    config: loaded.config.access,
    folder: accessDir(loaded),
    isLoopback: hostRule(host, hostname(), []).isLoopback,
    onFault: (fault) => log.error({ error: fault }, 'access'),
  })
}

/** {@link Access} in the form that a server takes. */
export function authorizeBy(access: Access): Authorize {
  return (request, reply) => authorize(access, request, reply)
}

/** What the ready line says about logins; empty if none is needed. */
export async function accessWords(access: Access): Promise<string> {
  if (!access.needsLogin) return ''
  const tokens = await access.tokens.list()
  return tokens.length > 0
    ? 'login by token'
    : `login needed; make a token with: ${sondeCommand()} tokens add NAME --role viewer`
}
