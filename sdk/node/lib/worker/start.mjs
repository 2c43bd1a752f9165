// The last module of a worker, which begins to serve. A thread that a function starts may import the SDK too, and serves
// nothing.

import { resolve } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { serve } from './serve.mjs'

if (isMainThread) serve(resolve(process.argv[2]))
