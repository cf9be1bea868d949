import type { ApiAnswers } from '@sonde/sdk/api'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { compress } from './compress.ts'

/** A request with the parameters of its path. */
export type ApiRequest = FastifyRequest<{ Params: Readonly<Record<string, string>> }>

/** Answers `GET` of an address with JSON that is made for each request: no cache may keep it. */
export function answerRoute<Path extends keyof ApiAnswers>(
  app: FastifyInstance,
  path: Path,
  answer: (request: ApiRequest) => ApiAnswers[Path] | Promise<ApiAnswers[Path]>,
): void {
  app.get<{ Params: Readonly<Record<string, string>> }>(path, { onSend: compress }, async (request, reply) =>
    reply.header('cache-control', 'no-store').send(await answer(request)),
  )
}
