import { type Access, accessRoutes, type Params, paramRoutes, SCRAPER_PARAM, type Webhooks } from '@sonde/console'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Loaded } from '../config/load.ts'
import { openAccess } from './access.ts'
import { openParams } from './params.ts'
import { openServerTls, type ServerTls } from './server-tls.ts'

/** Who may use a server, and what people set while it runs. */
export interface Management {
  readonly access: Access
  readonly params: Params
  /** Undefined if connections are not encrypted. */
  readonly tls: ServerTls | undefined
}

/** Opens all of it for a server that listens on a host. */
export async function openManagement(
  loaded: Loaded,
  host: string,
  log: Pick<Logger, 'error' | 'warn' | 'info'>,
): Promise<Management> {
  const params = openParams(loaded, (fault) => log.error({ error: fault }, 'parameters'))
  const tls = await openServerTls(loaded, log)
  await params.follow()
  return { access: openAccess(loaded, host, log), params, tls }
}

/** Routes of logins, the log of changes, and parameters. */
export function managementRoutes(app: FastifyInstance, { access, params, tls }: Management): void {
  tls?.follow(app.server)
  accessRoutes(app, access)
  paramRoutes(app, params, access.audit)
  app.addHook('onClose', () => params.close())
}

/** Whether GPU exporters shall be scraped. */
export function isScraping(params: Params): boolean {
  return params.value(SCRAPER_PARAM) === 'true'
}

/** Whether GPU observability is enabled. */
export function isEnabled(params: Params): boolean {
  return params.value('gpu_observability_enable') === 'true'
}

/** Sends an event for each version of the parameters, whoever made it. */
export function notifyOfParams({ params }: Management, webhooks: Webhooks): void {
  params.onVersion = ({ version, timeMs, who, changes }) => {
    const message = changes.map(({ name, before, after }) => `${name}: ${before || 'default'} → ${after || 'default'}`)
    const data = { actor: who, version: `${version}`, message: message.join('; ') }
    webhooks.notify({ type: 'params.changed', status: 'success', atMs: timeMs, data })
  }
}
