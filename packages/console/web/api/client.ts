import {
  type ApiAnswers,
  type ErrorAnswer,
  type QueryAnswer,
  type QueryBody,
  type RouteParameters,
  routeAddress,
} from '@sonde/sdk/api'
import { parseMarked, unmarked } from '../format/marked-text.ts'
import { hear } from '../state/clock.ts'
import { isUnanswerable, scopedAddress } from '../state/node-scope.ts'
import { csrfWord, isLoggedOut } from '../state/session.ts'
import { COLUMNS_MEDIA_TYPE, decodeColumns } from './decode-columns.ts'

/** A failed request. `status` is 0 if there was no answer. */
export class ApiError extends Error {
  /** Stable code: the server's, or `WEB_UNREACHABLE`, `WEB_BAD_ANSWER`. */
  readonly code: string
  /** HTTP status, 0 if the server was not reached. */
  readonly status: number

  constructor(code: string, status: number, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.status = status
  }
}

/** Milliseconds after which a request counts as unanswered. */
const REQUEST_LIMIT_MS = 15_000

async function request(path: string, init: RequestInit): Promise<Response> {
  if (isUnanswerable(path)) throw new ApiError('CON_NO_AGENT', 404, 'Only an agent has this. Open the page of a node.')
  let response: Response
  try {
    response = await fetch(unmarked(scopedAddress(path)), { ...init, signal: AbortSignal.timeout(REQUEST_LIMIT_MS) })
  } catch (cause) {
    throw new ApiError('WEB_UNREACHABLE', 0, `${location.host} does not answer.`, { cause })
  }
  if (response.ok) {
    hear()
    return response
  }
  const error = await errorOf(response)
  if (response.status === 401 && error.code === 'ACC_LOGIN') isLoggedOut.set(true)
  throw error
}

async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text()
  try {
    const { error } = parseMarked<ErrorAnswer>(text)
    return new ApiError(error.code, response.status, error.message)
  } catch (cause) {
    // A proxy may answer with its own page. Then only its status is known.
    return new ApiError('WEB_BAD_ANSWER', response.status, `${location.host} answered ${response.status}.`, { cause })
  }
}

/** Reads one JSON route. Throws {@link ApiError}. */
export async function getAnswer<Route extends keyof ApiAnswers>(
  route: Route,
  parameters?: RouteParameters,
): Promise<ApiAnswers[Route]> {
  const response = await request(routeAddress(route, parameters), { headers: { accept: 'application/json' } })
  return parseMarked<ApiAnswers[Route]>(await response.text())
}

/** Reads the bytes of a route that answers with columns. Throws {@link ApiError}. */
export async function getBytes(path: string, mediaType: string): Promise<ArrayBuffer> {
  const response = await request(path, { headers: { accept: mediaType } })
  return response.arrayBuffer()
}

/** Sends several queries over one window and returns columns. Throws {@link ApiError}. */
export async function postQuery(body: QueryBody): Promise<QueryAnswer> {
  const response = await request('/api/v1/query', {
    method: 'POST',
    headers: { accept: COLUMNS_MEDIA_TYPE, 'content-type': 'application/json' },
    body: unmarked(JSON.stringify(body)),
  })
  return decodeColumns(await response.arrayBuffer())
}

/** Sends a change and returns the answer, or undefined without a body. Throws {@link ApiError}. */
export async function sendChange<T>(method: 'POST' | 'DELETE', path: string, body?: object): Promise<T | undefined> {
  const response = await request(path, {
    method,
    headers: {
      accept: 'application/json',
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...(csrfWord.get() === '' ? {} : { 'x-sonde-csrf': csrfWord.get() }),
    },
    ...(body ? { body: unmarked(JSON.stringify(body)) } : {}),
  })
  return response.status === 204 ? undefined : parseMarked<T>(await response.text())
}
