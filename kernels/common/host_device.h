// ATTN_HD marks functions that run on host and device; it vanishes without nvcc.
#pragma once

#ifdef __CUDACC__
#define ATTN_HD __host__ __device__
#else
#define ATTN_HD
#endif
