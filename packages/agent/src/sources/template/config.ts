import * as v from 'valibot'

/** Options of the template source. Strict, so that a misspelt key is refused. */
export const templateOptions = v.strictObject({
  limit: v.optional(v.pipe(v.boolean(), v.description('Whether to report the limit beside the number in use')), true),
})

/** Parsed {@link templateOptions}. */
export type TemplateOptions = v.InferOutput<typeof templateOptions>
