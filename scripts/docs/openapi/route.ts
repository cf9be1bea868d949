// The form of the table of routes.

import type { ApiAnswers, UserRole } from '@sonde/sdk/api'
import type { JsonSchema } from './schemas.ts'

/** The server that has a route: an agent (`sonde up`, `sonde agent`), or a console without an agent. */
export type RouteServer = 'agent' | 'console'

/** A parameter of the query. */
export interface RouteParameter {
  readonly description: string
  readonly schema: JsonSchema
  readonly isRequired?: boolean
}

/** An answer of success. */
export interface RouteAnswer {
  readonly status: number
  readonly description: string
  /** Left out: there is no body. */
  readonly mediaType?: string
  /** Name of a type of `@sonde/sdk/api`, or a schema. */
  readonly schema?: string | JsonSchema
}

/** A route of the HTTP API. */
export interface ApiRoute {
  readonly method: 'get' | 'post' | 'delete'
  /** With the names of path parameters as `:name`. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  /** Default: all. */
  readonly servers?: readonly RouteServer[]
  /** The least role; null: no login. Default: viewer. */
  readonly role?: UserRole | null
  readonly query?: Readonly<Record<string, RouteParameter>>
  /** Name of a type of `@sonde/sdk/api`, or a schema, of the JSON body. */
  readonly body?: string | JsonSchema
  /** Default: the type of the address in `ApiAnswers`, as JSON. */
  readonly answers?: readonly RouteAnswer[]
  /** Codes of errors beside those of all routes. */
  readonly errors?: readonly string[]
}

/** A route that answers `GET` with the JSON that `ApiAnswers` declares. */
export function answering(
  path: keyof ApiAnswers,
  tag: string,
  summary: string,
  more: Partial<ApiRoute> = {},
): ApiRoute {
  return { method: 'get', path, tag, summary, ...more }
}

/** A parameter that is text. */
export function text(description: string, more: JsonSchema = {}): RouteParameter {
  return { description, schema: { type: 'string', ...more } }
}

/** A parameter that is a number. */
export function number(description: string, more: JsonSchema = {}): RouteParameter {
  return { description, schema: { type: 'number', ...more } }
}

/** A parameter that is a whole number. */
export function integer(description: string, more: JsonSchema = {}): RouteParameter {
  return { description, schema: { type: 'integer', ...more } }
}

/** The same parameter, which must be given. */
export function required(parameter: RouteParameter): RouteParameter {
  return { ...parameter, isRequired: true }
}
