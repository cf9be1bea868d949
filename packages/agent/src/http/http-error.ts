import { SondeError } from '@sonde/sdk'
import { messageOf } from '@sonde/sdk/internal'
import type { FastifyError } from 'fastify'
import type { HttpRefusal } from '../pipeline/http-stats.ts'

/** An error as it is answered. */
export interface HttpError {
  readonly status: number
  readonly code: string
  readonly message: string
  /** When to try again, if that is known. Unit: seconds from now. */
  readonly retryAfterS?: number
}

const LATER = new Set([
  ...['QRY_BACKEND_OPEN', 'STR_LIMIT', 'QRY_BUSY', 'EXP_BUSY', 'WHK_BUSY', 'NOD_BUSY', 'NOD_UNREACHABLE'],
  ...['SET_SYNTAX', 'SET_LIMIT', 'SET_READ'],
])

/** A temporary error: the client should try again later. */
function isForLater(code: string): boolean {
  return LATER.has(code) || code.startsWith('STO_')
}

/** Faults of a request that fastify finds, with what to do about them. */
const REQUEST_FAULTS: Readonly<Record<string, Omit<HttpError, 'status'>>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { code: 'HTTP_BODY_LIMIT', message: 'the body is too large; at most 262144 bytes' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'HTTP_CONTENT_TYPE',
    message: 'the content type of the body is unknown; send JSON with content-type: application/json',
  },
  FST_ERR_BAD_URL: { code: 'HTTP_URL', message: 'the address is no valid URL; a percent sign in it is written %25' },
}

/** Codes of requests that are refused for where they come from, or where they were sent. */
const STATUS_OF: Readonly<Record<string, number>> = {
  HTTP_REQUEST: 400,
  APP_CAP: 400,
  ACC_FORM: 400,
  PRM_FORM: 400,
  PRM_VALUE: 400,
  PRM_NOTHING: 409,
  STA_BUSY: 503,
  STA_DAMAGED: 503,
  STA_LIMIT: 409,
  STA_READ: 503,
  STA_WRITE: 503,
  ACC_LOGIN: 401,
  ACC_TOKEN: 401,
  ACC_ROLE: 403,
  ACC_CSRF: 403,
  ACC_WAIT: 429,
  INC_FORM: 400,
  INC_LIMIT: 409,
  INC_PIN: 409,
  SET_CLASS: 400,
  WHK_FORM: 400,
  HTTP_CROSS_SITE: 403,
  HTTP_NOT_FOUND: 404,
  WHK_UNKNOWN: 404,
  NOD_UNKNOWN: 404,
  NOD_ROUTE: 404,
  NOD_LOGIN: 502,
  NOD_ANSWER: 502,
  NOD_TIMEOUT: 504,
  HTTP_HOST: 421,
}

/** Status, code and message of anything that a route threw. What is our fault keeps its details for the log. */
export function httpErrorOf(error: unknown): HttpError {
  if (error instanceof SondeError) {
    const { code, message } = error
    const { retryAfterS } = error
    if (isForLater(code)) return { status: 503, code, message, ...(retryAfterS !== undefined && { retryAfterS }) }
    if (code === 'QRY_BACKEND') return { status: 502, code, message }
    if (code === 'QRY_BACKEND_TIMEOUT') return { status: 504, code, message }
    if (code.startsWith('QRY')) return { status: code.endsWith('_LIMIT') ? 422 : 400, code, message }
    const status = STATUS_OF[code]
    if (status !== undefined) return { status, code, message, ...(retryAfterS !== undefined && { retryAfterS }) }
    if (
      code === 'CON_NO_AGENT' ||
      code === 'CON_NO_HISTORY' ||
      code === 'EXP_UNKNOWN' ||
      code === 'SET_UNKNOWN' ||
      code === 'SIM_UNKNOWN' ||
      code === 'INC_UNKNOWN' ||
      code === 'TRB_UNKNOWN' ||
      code === 'TRB_NO_FILE' ||
      code === 'AGT_UNKNOWN' ||
      code === 'APP_UNKNOWN'
    )
      return { status: 404, code, message }
    if (code.startsWith('SIM_')) return { status: code === 'SIM_FORM' ? 400 : 409, code, message }
  }
  const { statusCode = 500, code = '' } = error as Partial<FastifyError>
  if (statusCode < 400 || statusCode >= 500)
    return { status: 500, code: 'HTTP_FAULT', message: 'the request failed here; the log says why' }
  const known = REQUEST_FAULTS[code] ?? { code: 'HTTP_REQUEST', message: messageOf(error) }
  return { status: statusCode, ...known }
}

/** Errors of node:http before a request exists, by code, and the reason under which they count. */
export function parserErrorOf(code: string | undefined): HttpError & { readonly refusal: HttpRefusal } {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const message = 'address and headers are too long; at most 16384 bytes'
    return { status: 431, code: 'HTTP_HEADER_LIMIT', message, refusal: 'header_bytes' }
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const message = 'the request took too long to arrive'
    return { status: 408, code: 'HTTP_TIMEOUT', message, refusal: 'request_time' }
  }
  return { status: 400, code: 'HTTP_PARSE', message: 'this is no HTTP request', refusal: 'syntax' }
}
